--- Changes that were made, as a person sees them in their files, and how they are kept and reverted.

local resolve = "undine/review/resolve"

--- A child with a.txt open and the cursor in it, the chat beside it, and a server that settles what it is asked to.
local function begin(T, text, files)
  local child = T.child(T.folder(vim.tbl_extend("force", { ["a.txt"] = text }, files or {})))
  child:cmd("edit a.txt")
  child:open_chat()
  child:cmd("wincmd h")
  child:run(function()
    fake.results["undine/review/resolve"] = function(params)
      return { settled = params.hunkIds or {}, queued = {}, remaining = {} }
    end
    vim.notify = function(text)
      _G.told = text
    end
  end)
  return child
end

--- Lets the server tell these hunks of a file: `{ id, first row, number of lines, base text, state? }` each.
local function changed(child, hunks, more, name)
  child:run(function(...)
    fake.changed(...)
  end, child.folder .. "/" .. (name or "a.txt"), hunks, more or vim.empty_dict())
end

local function told(child)
  return child:wait(function()
    return _G.told
  end)
end

--- What stands in the left window: its first lines, without signs of the window's edge.
local function shown(child, n)
  return vim.tbl_map(function(line)
    return (line:match("^(.-)│") or line):gsub("%s+$", "")
  end, vim.list_slice(vim.split(child:screen(), "\n"), 1, n))
end

--- The rows that hunks are drawn over: `{ id, first, behind the last }`.
local function places(child, name)
  return child:run(function(file)
    local marks, buf = require("undine.changes.marks"), vim.fn.bufnr(file)
    local drawn = require("undine.state").drawn[buf]
    return vim.tbl_map(function(it)
      local first, last = marks.place(buf, it)
      return { it.hunk.id, first, last }
    end, drawn and drawn.hunks or {})
  end, name or "a.txt")
end

local function n_marks(child)
  return child:run(function()
    local ns = require("undine.state").changes_ns
    return #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), ns, 0, -1, {})
  end)
end

local function lines(child)
  return child:run(function()
    return vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 0, -1, false)
  end)
end

local function here(child)
  return child:run(function()
    return { vim.fs.basename(vim.fn.bufname()), vim.fn.line(".") }
  end)
end

local function numbered(n)
  local all = {}
  for at = 1, n do
    all[at] = "line " .. at
  end
  return table.concat(all, "\n") .. "\n"
end

return {
  ["a person sees what came, what it was, and what went"] = function(T)
    local child = begin(T, "one\nTWO\nthree\nnew\nfour\nsix\n")
    changed(child, {
      { "h1", 1, 1, "two\n" },
      { "h2", 3, 1, "" },
      { "h3", 5, 0, "five\n" },
    })
    T.eq(shown(child, 9), {
      "  one",
      "  two",
      "~ TWO",
      "  three",
      "+ new",
      "  four",
      "  five",
      "_ six",
      "~",
    })
    local plain, removed, came = unpack(child:run(function()
      return vim.tbl_map(function(row)
        return vim.fn.screenattr(row, 40)
      end, { 1, 2, 3 })
    end))
    T.ok(plain ~= removed and plain ~= came and removed ~= came, "colours over the whole line")
    T.eq(lines(child), { "one", "TWO", "three", "new", "four", "six" })
  end,

  ["lines that went at the very end and at the very beginning are seen"] = function(T)
    local child = begin(T, "b\n")
    changed(child, { { "h1", 0, 0, "a\n" }, { "h2", 1, 0, "c\nd\n" } })
    T.eq(vim.list_slice(shown(child, 4), 1, 4), { "  a", "_ b", "  c", "  d" })
    changed(child, {})
    T.eq(shown(child, 2), { "b", "~" })
  end,

  ["a file whose every line went shows them"] = function(T)
    local child = begin(T, "")
    changed(child, { { "h1", 0, 0, "a\nb\n" } })
    T.eq(shown(child, 3), { "  a", "  b", "_" })
  end,

  ["a change that is the person's too looks different and says so"] = function(T)
    local child = begin(T, "ONE\ntwo\nTHREE\n")
    changed(child, { { "h1", 0, 1, "one\n" }, { "h2", 2, 1, "three\n", "mixed" } })
    T.eq(shown(child, 5), { "  one", "~ ONE", "  two", "  three", "* THREE  yours too" })
    local ours, mixed = unpack(child:run(function()
      return { vim.fn.screenattr(2, 45), vim.fn.screenattr(5, 45) }
    end))
    T.ok(ours ~= mixed, "another colour")
  end,

  ["of many lines that went the first are shown, and how many more there are"] = function(T)
    local child = begin(T, "one\n")
    changed(child, { { "h1", 0, 1, numbered(40) } })
    local screen = shown(child, 13)
    T.eq({ screen[11], screen[12], screen[13] }, { "  line 11", "  … 29 more lines", "~ one" })
  end,

  ["a file that was made, and one that was deleted, say so at the top"] = function(T)
    local child = begin(T, "one\ntwo\n")
    local keys = "<leader>uK keep, <leader>uX revert"
    changed(child, { { "h1", 0, 2, "" } }, { change = "created" })
    T.eq(shown(child, 3), { "  Made by Undine  " .. keys, "+ one", "+ two" })
    changed(child, { { "h2", 0, 0, "gone\n" } }, { change = "deleted" })
    T.eq(vim.list_slice(shown(child, 3), 1, 2), {
      "  Deleted by Undine  " .. keys,
      "  gone",
    })
    changed(child, {}, { change = "created" })
    T.eq(shown(child, 2), { "Made by Undine  " .. keys, "one" })
  end,

  ["marks move with what is typed, and the person's text is not touched"] = function(T)
    local child = begin(T, "one\nTWO\nthree\n")
    changed(child, { { "h1", 1, 1, "two\n" } })
    child:keys("yyggOmine")
    T.eq(places(child), { { "h1", 2, 3 } })
    T.eq(shown(child, 4), { "  mine", "  one", "  two", "~ TWO" })
    child:keys("<Esc>u")
    T.eq(places(child), { { "h1", 1, 2 } })
    T.eq(
      child:run(function()
        return { vim.fn.getreg('"'), vim.bo.modified }
      end),
      { "one\n", false }
    )
  end,

  ["a change is drawn anew where its marks were lost or the server sees it elsewhere"] = function(
    T
  )
    local child = begin(T, "one\nTWO\nthree\n")
    changed(child, { { "h1", 1, 1, "two\n" } })
    child:keys("2GddP")
    T.lacks(vim.inspect(places(child)), vim.inspect({ "h1", 1, 2 }))
    changed(child, { { "h1", 1, 1, "two\n" } })
    T.eq(places(child), { { "h1", 1, 2 } })
    T.eq(shown(child, 3), { "  one", "  two", "~ TWO" })
    local n = n_marks(child)
    changed(child, { { "h1", 2, 1, "two\n" } })
    T.eq({ places(child), n_marks(child) }, { { { "h1", 2, 3 } }, n })
  end,

  ["a list for an older text is not drawn, and is asked for again"] = function(T)
    local child = begin(T, "one\nTWO\nthree\n")
    changed(child, { { "h1", 1, 1, "two\n" } })
    child:keys("ggOmine<Esc>")
    local before = child:run(function()
      return fake.n_lists
    end)
    -- Told for the text before the line was typed; the server knows the new one by the time it is asked.
    changed(child, { { "h1", 1, 1, "two\n" }, { "h2", 2, 1, "drei\n" } }, { version = 0 })
    T.eq(places(child), { { "h1", 2, 3 } })
    changed(child, { { "h1", 2, 1, "two\n" }, { "h2", 3, 1, "drei\n" } }, { is_silent = true })
    child:wait(function(n)
      return fake.n_lists == n + 1
    end, before)
    child:wait(function()
      return #require("undine.state").drawn[vim.fn.bufnr("a.txt")].hunks == 2
    end)
    T.eq(places(child), { { "h1", 2, 3 }, { "h2", 3, 4 } })
  end,

  ["a list that stays old is asked for once, not for ever"] = function(T)
    local child = begin(T, "one\nTWO\n")
    child:run(function()
      fake.results["undine/review/list"] = function(params)
        local hunks = vim.tbl_values(fake.review)[1].hunks
        return { files = { { uri = params.uri, version = 77, hunks = hunks } } }
      end
      _G.n_before = fake.n_lists
    end)
    changed(child, { { "h1", 1, 1, "two\n" } }, { version = 77 })
    child:wait(function()
      return fake.n_lists == n_before + 1
    end)
    child:run(function()
      _G.is_later = false
      vim.defer_fn(function()
        _G.is_later = true
      end, 300)
    end)
    child:wait(function()
      return is_later
    end)
    T.eq(
      child:run(function()
        return fake.n_lists - n_before
      end),
      1
    )
    T.eq(places(child), {})
  end,

  ["hunks that do not fit into the buffer are not drawn"] = function(T)
    local child = begin(T, "one\n")
    changed(child, { { "h1", 7, 2, "x\n" } })
    T.eq(n_marks(child), 0)
  end,

  ["changes of before are there when the server starts, and in a file that is opened later"] = function(
    T
  )
    local child = T.child(T.folder({ ["a.txt"] = "ONE\n", ["b.txt"] = "x\nTWO\n" }))
    changed(child, { { "h1", 0, 1, "one\n" } }, { is_silent = true })
    changed(child, { { "h2", 1, 1, "two\n" } }, { is_silent = true }, "b.txt")
    child:cmd("edit a.txt")
    child:open_chat()
    child:cmd("wincmd h")
    child:see("~ ONE")
    child:cmd("edit b.txt")
    child:see("~ TWO")
    child:cmd("edit!")
    child:see("~ TWO")
    T.eq(places(child, "b.txt"), { { "h2", 1, 2 } })
  end,

  ["a file that was opened through a link shows its changes"] = function(T)
    local child = T.child(T.folder({ ["a.txt"] = "ONE\n" }))
    vim.uv.fs_symlink(child.folder .. "/a.txt", child.folder .. "/link.txt")
    child:cmd("edit link.txt")
    child:open_chat()
    child:cmd("wincmd h")
    changed(child, { { "h1", 0, 1, "one\n" } }, { version = 0 })
    child:see("~ ONE")
  end,

  ["the keys go through all changes, over the files and round"] = function(T)
    local child = begin(T, numbered(60), { ["b.txt"] = numbered(30) })
    changed(child, { { "h1", 4, 1, "five\n" }, { "h2", 49, 2, "" } })
    changed(child, { { "h3", 19, 1, "x\n" } }, {}, "b.txt")
    child:wait(function()
      return require("undine").status() == "3 changes"
    end)
    local seen = {}
    for _, key in ipairs({ "]h", "]h", "]h", "]h", "[h", "[h", "]H", "[H" }) do
      child:keys(key)
      -- The file that was just opened is drawn when the server has told its changes for the text that is there.
      child:wait(function()
        return require("undine.state").drawn[vim.api.nvim_get_current_buf()] ~= nil
      end)
      table.insert(seen, here(child))
    end
    T.eq(seen, {
      { "a.txt", 5 },
      { "a.txt", 50 },
      { "b.txt", 20 },
      { "a.txt", 5 },
      { "b.txt", 20 },
      { "a.txt", 50 },
      { "b.txt", 20 },
      { "a.txt", 5 },
    })
    child:keys("<C-o>")
    T.eq(here(child), { "b.txt", 20 })
  end,

  ["a change is kept and reverted by key, a file too; the buffer is left to the server"] = function(
    T
  )
    local child = begin(T, "ONE\ntwo\nTHREE\n")
    changed(child, { { "h1", 0, 1, "one\n" }, { "h2", 2, 1, "three\n" } })
    child:keys("gg<Space>uk")
    T.eq(child:take(resolve), '{"action":"keep","hunkIds":["h1"]}')
    child:keys("G<Space>ux")
    T.eq(child:take(resolve), '{"action":"revert","hunkIds":["h2"]}')
    local uri = vim.uri_from_fname(child.folder .. "/a.txt")
    child:keys("<Space>uK")
    T.eq(vim.json.decode(child:take(resolve)), { action = "keep", uri = uri })
    child:keys("<Space>uX")
    T.eq(vim.json.decode(child:take(resolve)), { action = "revert", uri = uri })
    child:keys("2G<Space>ux")
    T.eq(told(child), "Undine: there is no change at the cursor; ]h goes to the next.")
    T.eq(lines(child), { "ONE", "two", "THREE" })
    changed(child, {})
    T.eq(
      { n_marks(child), child:run(function()
        return require("undine").status()
      end) },
      { 0, "" }
    )
  end,

  ["keys are there only with changes, and no mapping of the person's is covered"] = function(T)
    local child = begin(T, "ONE\n")
    local function keys()
      return child:run(function()
        return vim.fn.sort(vim.tbl_map(function(it)
          return it.lhs
        end, vim.api.nvim_buf_get_keymap(vim.fn.bufnr("a.txt"), "n")))
      end)
    end
    local before = keys()
    child:cmd("nnoremap ]h <Cmd>let g:mine = 1<CR>")
    child:cmd("nnoremap <buffer> <Space>uk <Cmd>let g:mine = 2<CR>")
    changed(child, { { "h1", 0, 1, "one\n" } })
    T.eq(#keys(), #before + 1 + 6)
    child:keys("]h")
    T.eq(
      child:run(function()
        return vim.g.mine
      end),
      1
    )
    child:keys("<Space>uk")
    T.eq(
      child:run(function()
        return vim.g.mine
      end),
      2
    )
    -- One that is set later stays, too.
    child:cmd("nnoremap <buffer> [h <Cmd>let g:mine = 3<CR>")
    changed(child, {})
    T.eq(#keys(), #before + 2)
    child:keys("[h")
    T.eq(
      child:run(function()
        return vim.g.mine
      end),
      3
    )
  end,

  ["a revert that waits, and one that does not happen, say so"] = function(T)
    local child = begin(T, "ONE\ntwo\n")
    changed(child, { { "h1", 0, 1, "one\n" } })
    child:run(function()
      fake.results["undine/review/resolve"] = function()
        return { settled = {}, queued = { "h1" }, remaining = {} }
      end
    end)
    child:keys("gg<Space>ux")
    child:take(resolve)
    T.eq(told(child), "Undine: 1 change is reverted when this step ends.")
    child:see("ONE  reverted when this step ends")
    child:run(function()
      fake.results["undine/review/resolve"] = function()
        return { settled = {}, queued = {}, remaining = { "h1", "h2" } }
      end
      _G.told = nil
    end)
    child:cmd("UndineRevert all")
    child:take(resolve)
    T.eq(told(child), "Undine: 2 changes stay: later changes stand on them.")
    changed(child, { { "h1", 0, 1, "one\n", "mixed" } })
    child:run(function()
      _G.told = nil
    end)
    child:cmd("UndineRevert file")
    child:take(resolve)
    T.eq(told(child), "Undine: 2 changes stay: your own work is in them.")
    child:run(function()
      _G.told = nil
      fake.results["undine/review/resolve"] = nil
    end)
    child:cmd("UndineRevert hunk")
    child:take(resolve)
    T.eq(told(child), "Undine: no such method")
  end,

  ["commands keep and revert by scope and by range"] = function(T)
    local child = begin(T, "ONE\ntwo\nTHREE\n")
    changed(child, {
      { "h1", 0, 1, "one\n", "pending", 3 },
      { "h2", 2, 1, "three\n", "pending", 4 },
    })
    child:cmd("1,3UndineKeep")
    T.eq(child:take(resolve), '{"action":"keep","hunkIds":["h1","h2"]}')
    child:cmd("UndineRevert all")
    T.eq(child:take(resolve), '{"action":"revert"}')
    child:keys("gg")
    child:cmd("UndineRevert turn")
    T.eq(child:take(resolve), '{"action":"revert","sessionId":"s1","turn":3}')
    child:keys("2G")
    child:cmd("UndineKeep turn")
    T.eq(child:take(resolve), '{"action":"keep","sessionId":"s1","turn":4}')
    child:cmd("UndineKeep lot")
    T.eq(told(child), "Undine: `lot` is none of hunk, file, turn, all.")
    T.eq(
      child:run(function()
        return vim.fn.getcompletion("UndineRevert ", "cmdline")
      end),
      { "hunk", "file", "turn", "all" }
    )
  end,

  ["nothing to review is said, not an error"] = function(T)
    local child = begin(T, "one\n")
    for _, command in ipairs({
      "UndineReview all",
      "UndineReview turn",
      "UndineReview diff",
      "UndineKeep",
      "UndineRevert all",
      [[execute "normal \<Plug>(undine-next-change)"]],
      [[execute "normal \<Plug>(undine-next-file)"]],
    }) do
      child:run(function()
        _G.told = nil
      end)
      child:cmd(command)
      T.eq({ command, told(child) }, { command, "Undine: nothing waits to be reviewed." })
    end
    child:cmd("UndineReview")
    T.eq(told(child), "Undine: nothing waits for an answer or a review.")
  end,

  ["the quickfix list has an entry a change, stays up to date and can judge"] = function(T)
    local child = begin(T, "ONE\ntwo\nTHREE\n", { ["b.txt"] = "b\n" })
    local function list()
      return child:run(function()
        local found = vim.fn.getqflist({ items = 0, title = 0, idx = 0 })
        local entries = vim.tbl_map(function(it)
          local name = vim.fs.basename(vim.fn.bufname(it.bufnr))
          return ("%s:%d-%d %s"):format(name, it.lnum, it.end_lnum, it.text)
        end, found.items)
        return { found.title, found.idx, entries }
      end)
    end
    changed(child, { { "h1", 0, 1, "one\nuno\n" }, { "h2", 2, 1, "", "mixed" } })
    changed(child, { { "h3", 1, 0, "gone\n" } }, {}, "b.txt")
    child:cmd("UndineReview")
    T.eq(list(), {
      "Undine: 3 changes in 2 files",
      1,
      {
        "a.txt:1-1 +1 -2  ONE",
        "a.txt:3-3 +1 -0  yours too:  THREE",
        "b.txt:2-2 +0 -1  - gone",
      },
    })
    child:see("+1 -2  ONE")
    child:cmd("3cc | copen")
    changed(child, { { "h2", 2, 1, "" } })
    child:wait(function()
      return #vim.fn.getqflist() == 2
    end)
    T.eq({ list()[1], list()[2] }, { "Undine: 2 changes in 2 files", 2 })
    child:keys("2G:UndineKeep<CR>")
    T.eq(child:take(resolve), '{"action":"keep","hunkIds":["h3"]}')
    changed(child, {}, {}, "b.txt")
    changed(child, {})
    child:wait(function()
      return #vim.fn.getqflist() == 0
    end)
    T.eq(list()[1], "Undine: 0 changes in 0 files")
    -- Another list of the person's is not written over, and ours comes back into sight.
    child:cmd([[cexpr "a.txt:2:mine" ]])
    changed(child, { { "h4", 0, 1, "one\n", "pending", 7 }, { "h5", 2, 1, "", "pending", 8 } })
    child:cmd("wincmd p")
    T.eq(
      child:run(function()
        return #vim.fn.getqflist()
      end),
      1
    )
    child:cmd("UndineReview turn")
    T.eq(list()[1], "Undine: 1 change of one turn in 1 file")
    T.eq(
      child:run(function()
        return vim.fn.getqflist({ nr = "$" }).nr
      end),
      2
    )
  end,

  ["the accepted text stands beside the live one, and the next file follows"] = function(T)
    local child = begin(T, "one\nTWO\n", { ["b.txt"] = "B\n" })
    child:run(function()
      _G.base = { ["a.txt"] = "one\r\ntwo\r\n", ["b.txt"] = "b\n" }
      fake.results["undine/review/base"] = function(params)
        return { text = base[vim.fs.basename(params.uri)] }
      end
    end)
    changed(child, { { "h1", 1, 1, "two\n" } })
    changed(child, { { "h2", 0, 1, "b\n" } }, {}, "b.txt")
    local function windows()
      return child:run(function()
        return vim.tbl_map(function(win)
          local buf = vim.api.nvim_win_get_buf(win)
          local name = vim.api.nvim_buf_get_name(buf)
          local is_accepted = vim.startswith(name, "undine://accepted/")
          return {
            is_accepted,
            vim.fs.basename(name),
            vim.wo[win].diff,
            vim.api.nvim_buf_get_lines(buf, 0, -1, false),
          }
        end, vim.api.nvim_tabpage_list_wins(0))
      end)
    end
    local function compares(name)
      child:take("undine/review/base")
      child:wait(function(it)
        return vim.fn.tabpagenr("$") == 2
          and vim.fn.bufname() == it
          and #vim.api.nvim_tabpage_list_wins(0) == 2
      end, name)
    end
    child:cmd("UndineReview diff")
    compares("a.txt")
    T.eq(windows(), {
      { true, "a.txt", true, { "one", "two" } },
      { false, "a.txt", true, { "one", "TWO" } },
    })
    T.eq(here(child), { "a.txt", 2 })
    local screen = child:see("Accepted: a.txt")
    T.ok(screen:find("two +│[~ ]*TWO"), "the lines stand side by side:\n" .. screen)
    -- What is kept becomes part of the accepted text.
    child:run(function()
      base["a.txt"] = "one\nTWO\n"
    end)
    changed(child, { { "h9", 1, 1, "two\n" } })
    child:take("undine/review/base")
    child:wait(function()
      local buf = vim.api.nvim_win_get_buf(vim.api.nvim_tabpage_list_wins(0)[1])
      return vim.api.nvim_buf_get_lines(buf, 1, 2, false)[1] == "TWO"
    end)
    child:keys("]H")
    compares("b.txt")
    T.eq(windows(), {
      { true, "b.txt", true, { "b" } },
      { false, "b.txt", true, { "B" } },
    })
    child:cmd("UndineReview diff")
    compares("a.txt")
    child:cmd("tabclose")
    T.eq(here(child), { "a.txt", 1 })
    T.eq(
      child:run(function()
        return { vim.wo.diff, vim.fn.tabpagenr("$") }
      end),
      { false, 1 }
    )
    T.eq(shown(child, 3), { "  one", "  two", "~ TWO" }, "and in the file as before")
    changed(child, {})
    changed(child, {}, {}, "b.txt")
  end,

  ["a deleted file is compared with nothing, and the walk through the files passes it over"] = function(
    T
  )
    local child = begin(T, "A\n")
    child:run(function()
      fake.results["undine/review/base"] = function()
        return { text = "was\nhere\n" }
      end
    end)
    changed(child, { { "h1", 0, 0, "was\nhere\n" } }, { change = "deleted" }, "gone.txt")
    child:cmd("UndineReview diff")
    child:take("undine/review/base")
    child:see("Accepted: gone.txt")
    child:see("here")
    child:cmd("tabclose")
    child:run(function()
      require("undine.changes.actions").jump(1)
    end)
    T.eq(told(child), "Undine: nothing waits to be reviewed.")
    T.eq(here(child), { "a.txt", 1 })
  end,

  ["a server that ends takes its marks and keys with it"] = function(T)
    local child = begin(T, "ONE\n")
    changed(child, { { "h1", 0, 1, "one\n" } })
    T.ok(n_marks(child) > 0, "marks")
    child:run(function()
      vim.lsp.stop_client(vim.lsp.get_clients())
    end)
    child:wait(function()
      return require("undine").status() == ""
    end)
    T.eq(n_marks(child), 0)
  end,

  ["five hundred changes are drawn at once and cost little with each key"] = function(T)
    local text = {}
    for at = 1, 5000 do
      text[at] = "line " .. at
    end
    local child = begin(T, table.concat(text, "\n") .. "\n")
    local first, again = unpack(child:run(function(path)
      local function hunks(shift)
        local all = {}
        for at = 1, 500 do
          all[at] = { "h" .. at, at * 10 - 5 + shift, 2, "old one\nold two\nold three\n" }
        end
        return all
      end
      local function time(run)
        local from = vim.uv.hrtime()
        run()
        return (vim.uv.hrtime() - from) / 1e6
      end
      local first = time(function()
        fake.changed(path, hunks(0))
      end)
      local times = {}
      for at = 1, 20 do
        vim.api.nvim_buf_set_lines(0, 0, 0, false, { "typed" })
        times[at] = time(function()
          fake.changed(path, hunks(at))
        end)
      end
      table.sort(times)
      return { first, times[10] }
    end, child.folder .. "/a.txt"))
    io.stdout:write(
      ("       500 changes: first %.1f ms, after a key %.1f ms\n"):format(first, again)
    )
    T.eq(#places(child), 500)
    T.eq(places(child)[500], { "h500", 5015, 5017 })
    -- Both hold the wire's encoding and decoding; the bounds leave room for a busy machine.
    T.ok(first < 500, ("the first drawing took %.1f ms"):format(first))
    T.ok(again < 100, ("a list after a key took %.1f ms"):format(again))
  end,
}
