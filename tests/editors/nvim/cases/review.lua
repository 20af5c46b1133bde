--- A proposed change, inline in its file.

local options = {
  { optionId = "once", name = "Allow once", kind = "allow_once" },
  { optionId = "session", name = "Do not ask again in this session", kind = "allow_always" },
  { optionId = "no", name = "No", kind = "reject_once" },
}

local ask = "session/request_permission"

local function edit(diffs)
  for _, diff in ipairs(diffs) do
    diff.type = "diff"
  end
  return {
    sessionId = "s1",
    options = options,
    toolCall = {
      toolCallId = "c1",
      title = "Edit a file",
      kind = "edit",
      status = "pending",
      content = diffs,
    },
  }
end

local function numbered(n)
  local lines = {}
  for i = 1, n do
    lines[i] = "line " .. i
  end
  return table.concat(lines, "\n") .. "\n"
end

--- The marks of a buffer: `{ row, "removed" }` or `{ row, "added", texts }`, in the order of the rows.
local function marks(child, name)
  return child:run(function(file)
    local state = require("undine.state")
    local found = {}
    local all =
      vim.api.nvim_buf_get_extmarks(vim.fn.bufnr(file), state.ns, 0, -1, { details = true })
    for _, mark in ipairs(all) do
      if mark[4].line_hl_group then
        table.insert(found, { mark[2], "removed" })
      elseif mark[4].virt_lines then
        local texts = vim.tbl_map(function(line)
          return vim.trim(line[1][1])
        end, mark[4].virt_lines)
        table.insert(found, { mark[2], "added", texts })
      end
    end
    return found
  end, name)
end

local function keys_of(child, name)
  return child:run(function(file)
    return vim.fn.sort(vim.tbl_map(function(it)
      return it.lhs
    end, vim.api.nvim_buf_get_keymap(vim.fn.bufnr(file), "n")))
  end, name)
end

--- A change of three places in six numbered lines, each of which may be chosen.
local function places(path)
  local new = "line 1\nLINE 2\nline 3\nline 4\nnew\nline 5\n"
  local params = edit({ { path = path, oldText = numbered(6), newText = new } })
  local function place(id, first, last, removed, added)
    return {
      id = id,
      uri = vim.uri_from_fname(path),
      range = {
        start = { line = first, character = 0 },
        ["end"] = { line = last, character = 0 },
      },
      removed = removed,
      added = added,
    }
  end
  params.toolCall._meta = {
    undine = {
      hunks = {
        place("p1", 1, 2, "line 2\n", "LINE 2\n"),
        place("p2", 4, 4, "", "new\n"),
        place("p3", 5, 6, "line 6\n", ""),
      },
    },
  }
  return params
end

--- A child with a.txt open on the left and a turn that runs, the cursor in the prompt.
local function begin(T, text)
  local child = T.child(T.folder({ ["a.txt"] = text }))
  child:cmd("edit a.txt")
  child:open_chat()
  child:keys("ido it<C-s>")
  child:take("session/prompt")
  return child
end

local function selected(id)
  return ('{"outcome":{"optionId":"%s","outcome":"selected"}}'):format(id)
end

return {
  ["a person sees what would go and what would come"] = function(T)
    local child = begin(T, "one\ntwo\nthree\n")
    local path = child.folder .. "/a.txt"
    child:ask(
      ask,
      edit({ { path = path, oldText = "one\ntwo\nthree\n", newText = "one\nTWO\nTOO\nthree\n" } })
    )
    child:see("TOO")
    local screen = vim.split(child:screen(), "\n")
    local left = vim.tbl_map(function(line)
      return vim.trim((line:match("^(.-)│") or line))
    end, vim.list_slice(screen, 1, 5))
    T.eq(
      left,
      { "one", "two   1/1  <leader>ua accept, <leader>ur reject, ]u next", "TWO", "TOO", "three" }
    )
    T.eq(marks(child, "a.txt"), { { 1, "removed" }, { 1, "added", { "TWO", "TOO" } } })
    local attributes = child:run(function()
      return vim.tbl_map(function(row)
        return vim.fn.screenattr(row, 50)
      end, { 1, 2, 3, 4, 5 })
    end)
    local plain, removed, added = unpack(attributes)
    T.eq(attributes, { plain, removed, added, added, plain })
    T.ok(
      plain ~= removed and plain ~= added and removed ~= added,
      "three colours over the whole line"
    )
    child:keys("<Space>ua")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["a file that was opened through a link is shown in its buffer"] = function(T)
    local child = T.child(T.folder({ ["a.txt"] = "one\n" }))
    vim.uv.fs_symlink(child.folder .. "/a.txt", child.folder .. "/link.txt")
    child:cmd("edit link.txt")
    child:open_chat()
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = "one\n", newText = "uno\n" } })
    )
    child:see("uno")
    T.eq(marks(child, "link.txt"), { { 0, "removed" }, { 0, "added", { "uno" } } })
    child:cmd("UndineReject no")
    child:answer(ask)
  end,

  ["the reason of the question stands at the first place"] = function(T)
    local child = begin(T, "one\n")
    local params = edit({
      { path = child.folder .. "/a.txt", oldText = "one\n", newText = "uno\n" },
    })
    params._meta = { undine = { requestId = 7, reason = "Mind this." } }
    child:ask(ask, params)
    child:see("uno")
    child:see("Mind this.")
    child:cmd("UndineReject no")
    child:answer(ask)
  end,

  ["marks and keys are gone after the answer"] = function(T)
    local child = begin(T, "one\n")
    local path = child.folder .. "/a.txt"
    local before = keys_of(child, "a.txt")
    child:ask(ask, edit({ { path = path, oldText = "one\n", newText = "uno\n" } }))
    child:see("uno")
    T.ok(#keys_of(child, "a.txt") == #before + 5, "five keys")
    child:cmd("wincmd h")
    child:keys("<Space>us")
    T.eq(child:answer(ask), selected("session"))
    T.eq(marks(child, "a.txt"), {})
    T.eq(keys_of(child, "a.txt"), before)
  end,

  ["a rejected change tells its reason to the server"] = function(T)
    local child = begin(T, "one\n")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = "one\n", newText = "uno\n" } })
    )
    child:see("uno")
    child:cmd("wincmd h")
    child:keys("<Space>ur")
    child:see("Why not?")
    child:keys("keep English<CR>")
    T.eq(
      child:answer(ask),
      '{"outcome":{"_meta":{"undine":{"note":"keep English"}},"optionId":"no","outcome":"selected"}}'
    )
    T.eq(marks(child, "a.txt"), {})
  end,

  ["a change that is taken back leaves no mark"] = function(T)
    local child = begin(T, "one\n")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = "one\n", newText = "uno\n" } })
    )
    child:see("uno")
    child:update({ sessionUpdate = "tool_call_update", toolCallId = "c1", status = "cancelled" })
    T.eq(child:answer(ask), '{"outcome":{"outcome":"cancelled"}}')
    T.eq(marks(child, "a.txt"), {})
  end,

  ["a person's own key comes back"] = function(T)
    local child = begin(T, "one\n")
    child:run(function()
      vim.keymap.set("n", "]u", "<Cmd>let g:mine = 1<CR>", { buffer = vim.fn.bufnr("a.txt") })
    end)
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = "one\n", newText = "uno\n" } })
    )
    child:see("uno")
    child:cmd("UndineReject no")
    child:answer(ask)
    child:cmd("wincmd h")
    child:keys("]u")
    T.eq(
      child:run(function()
        return vim.g.mine
      end),
      1
    )
  end,

  ["the cursor of the file does not move by itself"] = function(T)
    local child = begin(T, numbered(100))
    child:cmd("wincmd h | normal! 50Gzt")
    local new = numbered(100):gsub("line 3\n", "LINE 3\n")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = numbered(100), newText = new } })
    )
    child:see("waiting for you")
    T.eq(
      child:run(function()
        return { vim.fn.line("."), vim.fn.line("w0"), vim.fn.bufname() }
      end),
      { 50, 50, "a.txt" }
    )
    child:cmd("UndineReject no")
    child:answer(ask)
  end,

  ["what is out of sight is shown before it can be allowed"] = function(T)
    local child = begin(T, numbered(100))
    child:cmd("wincmd h | normal! 90Gzt")
    local new = numbered(100):gsub("line 3\n", "LINE 3\n")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = numbered(100), newText = new } })
    )
    child:see("waiting for you")
    child:keys("<Space>ua")
    child:see("LINE 3")
    child:see("waiting for you")
    child:keys("<Space>ua")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["the hunk keys go round all places"] = function(T)
    local child = begin(T, numbered(60))
    local new = numbered(60):gsub("line 5\n", "LINE 5\n"):gsub("line 50\n", "")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = numbered(60), newText = new } })
    )
    child:see("LINE 5")
    child:cmd("wincmd h | normal! gg")
    local lines = {}
    for _, key in ipairs({ "]u", "]u", "]u", "[u" }) do
      child:keys(key)
      table.insert(
        lines,
        child:run(function()
          return vim.fn.line(".")
        end)
      )
    end
    T.eq(lines, { 5, 50, 5, 50 })
    child:cmd("UndineReject no")
    child:answer(ask)
  end,

  ["lines that come before the first line are seen"] = function(T)
    local child = begin(T, "one\n")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = "one\n", newText = "zero\none\n" } })
    )
    child:see("waiting for you")
    child:cmd("UndineReview")
    child:see("zero")
    child:cmd("UndineReject no")
    child:answer(ask)
  end,

  ["a file that is not open is shown beside the chat and the cursor stays in the chat"] = function(
    T
  )
    local child = T.child(T.folder({ ["a.txt"] = "one\n", ["b.txt"] = "two\n" }))
    child:cmd("edit a.txt")
    child:open_chat()
    child:ask(
      ask,
      edit({ { path = child.folder .. "/b.txt", oldText = "two\n", newText = "dos\n" } })
    )
    child:see("dos")
    T.eq(
      child:run(function()
        return vim.fn.bufname()
      end),
      "undine://prompt"
    )
    child:keys("<Space>ua")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["a person at work in another file is told and not moved"] = function(T)
    local child = T.child(T.folder({ ["a.txt"] = "one\n", ["b.txt"] = "two\n" }))
    child:cmd("edit a.txt")
    child:open_chat()
    child:cmd("wincmd h")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/b.txt", oldText = "two\n", newText = "dos\n" } })
    )
    T.lacks(child:see("Undine proposes a change to b.txt"), "dos")
    T.eq(
      child:run(function()
        return vim.fn.bufname()
      end),
      "a.txt"
    )
    child:cmd("UndineReview")
    child:see("dos")
    child:keys("<Space>ua")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["a new file is shown in a buffer that goes with the answer"] = function(T)
    local child = begin(T, "one\n")
    child:ask(ask, edit({ { path = child.folder .. "/new.txt", newText = "fresh\nlines\n" } }))
    child:see("fresh")
    child:cmd("UndineReject no")
    child:answer(ask)
    T.eq(
      child:run(function()
        return {
          #vim.fn.getbufinfo({ buflisted = 1 }),
          vim.fn.bufnr("new.txt"),
          #vim.api.nvim_list_wins(),
        }
      end),
      { 1, -1, 3 }
    )
    child:see("one")
  end,

  ["a file that was never written is shown in the buffer it has"] = function(T)
    local child = T.child(T.folder())
    child:cmd("edit fresh.txt")
    child:keys("imine<Esc>")
    child:open_chat()
    child:ask(ask, edit({ { path = child.folder .. "/fresh.txt", newText = "mine\nyours\n" } }))
    child:see("yours")
    T.eq(marks(child, "fresh.txt"), { { 0, "added", { "yours" } } })
    child:cmd("UndineReject no")
    child:answer(ask)
  end,

  ["a change that cannot be shown in its file is shown in the panel"] = function(T)
    local child = begin(T, "one\n")
    local path = child.folder .. "/a.txt"
    child:ask(ask, edit({ { path = path, oldText = "zero\n", newText = "one\n" } }))
    T.has(child:see("+one"), "-zero")
    child:keys("1")
    T.eq(child:answer(ask), selected("once"))
    child:run(function()
      require("undine.review").present = function()
        error("broken")
      end
    end)
    child:ask(ask, edit({ { path = path, oldText = "one\n", newText = "uno\n" } }))
    child:see("+uno")
    child:keys("1")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["a change of several files is gone through file by file"] = function(T)
    local child = T.child(T.folder({ ["a.txt"] = "one\n", ["b.txt"] = "two\n" }))
    child:cmd("edit a.txt")
    child:open_chat()
    child:ask(
      ask,
      edit({
        { path = child.folder .. "/a.txt", oldText = "one\n", newText = "uno\n" },
        { path = child.folder .. "/b.txt", oldText = "two\n", newText = "dos\n" },
      })
    )
    child:see("uno")
    child:cmd("wincmd h")
    child:keys("]u")
    child:see("dos")
    child:keys("<Space>ua")
    T.eq(child:answer(ask), selected("once"))
    T.eq({ marks(child, "a.txt"), marks(child, "b.txt") }, { {}, {} })
  end,

  ["typing above a place moves its marks"] = function(T)
    local child = begin(T, "one\ntwo\n")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = "one\ntwo\n", newText = "one\nTWO\n" } })
    )
    child:see("TWO")
    child:cmd("wincmd h | normal! ggOmine")
    T.eq(marks(child, "a.txt"), { { 2, "removed" }, { 2, "added", { "TWO" } } })
    child:cmd("UndineReject no")
    child:answer(ask)
  end,

  ["a file that is read again keeps the change and its keys, and loses them with the answer"] = function(
    T
  )
    local child = begin(T, "one\ntwo\n")
    local params =
      edit({ { path = child.folder .. "/a.txt", oldText = "one\ntwo\n", newText = "one\nTWO\n" } })
    local want = { { 1, "removed" }, { 1, "added", { "TWO" } } }
    child:ask(ask, params)
    child:see("TWO")
    child:cmd("wincmd h | edit!")
    T.eq(marks(child, "a.txt"), want)
    child:cmd("new | bdelete a.txt")
    child:cmd("edit a.txt")
    T.eq(marks(child, "a.txt"), want)
    child:keys("<Space>ua")
    T.eq(child:answer(ask), selected("once"))
    child:cmd("edit!")
    T.eq(marks(child, "a.txt"), {})
    T.lacks(table.concat(keys_of(child, "a.txt"), " "), " ua")
  end,

  ["wiping the buffer leaves the question open"] = function(T)
    local child = begin(T, "one\n")
    child:ask(
      ask,
      edit({ { path = child.folder .. "/a.txt", oldText = "one\n", newText = "uno\n" } })
    )
    child:see("uno")
    child:cmd("bwipeout! a.txt")
    child:cmd("UndineReview")
    child:see("uno")
    child:keys("<Space>ua")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["of a change with several places a person takes some, and the answer names them"] = function(T)
    local child, path = begin(T, numbered(6)), nil
    path = child.folder .. "/a.txt"
    child:ask(ask, places(path))
    child:see("2/3  <leader>uy take it, <leader>un leave it out")
    child:cmd("wincmd h")
    child:keys("2G<Space>un")
    child:see("1/3  left out")
    T.eq(marks(child, "a.txt"), {
      { 1, "added", { "LINE 2" } },
      { 3, "added", { "new" } },
      { 5, "removed" },
    })
    child:keys("]u]u<Space>ua")
    T.eq(
      child:answer(ask),
      '{"outcome":{"_meta":{"undine":{"acceptedHunks":["p2","p3"]}},"optionId":"once","outcome":"selected"}}'
    )
    T.eq(marks(child, "a.txt"), {})
  end,

  ["once every place is decided, that is the answer"] = function(T)
    local child = begin(T, numbered(6))
    child:ask(ask, places(child.folder .. "/a.txt"))
    child:see("1/3")
    child:cmd("wincmd h")
    child:keys("2G<Space>uy4G<Space>un6G<Space>uy")
    T.eq(
      child:answer(ask),
      '{"outcome":{"_meta":{"undine":{"acceptedHunks":["p1","p3"]}},"optionId":"once","outcome":"selected"}}'
    )
    child:ask(ask, places(child.folder .. "/a.txt"))
    child:see("1/3")
    child:keys("2G<Space>uy4G<Space>uy6G<Space>uy")
    T.eq(child:answer(ask), selected("once"), "all of them are the whole change")
    child:ask(ask, places(child.folder .. "/a.txt"))
    child:see("1/3")
    child:keys("2G<Space>un4G<Space>un6G<Space>un")
    child:see("Why not?")
    child:keys("none<CR>")
    T.eq(
      child:answer(ask),
      '{"outcome":{"_meta":{"undine":{"note":"none"}},"optionId":"no","outcome":"selected"}}'
    )
  end,

  ["places of a change move with what was typed since, and are offered whole where they do not fit"] = function(
    T
  )
    local child = begin(T, numbered(6))
    child:cmd("wincmd h")
    child:keys("ggOmine<Esc>")
    child:ask(ask, places(child.folder .. "/a.txt"))
    child:see("1/3")
    child:keys("3G<Space>un")
    child:see("1/3  left out")
    child:cmd("UndineReject no")
    child:answer(ask)
    child:keys("3GA typed<Esc>")
    child:ask(ask, places(child.folder .. "/a.txt"))
    child:see("1/4")
    child:keys("3G<Space>un")
    child:see("can only be accepted or rejected whole")
    child:cmd("UndineReject no")
    child:answer(ask)
  end,
}
