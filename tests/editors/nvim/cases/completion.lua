--- Completion in the prompt: commands, mentions, files; and nothing that was not asked for.

local function begin(T, files)
  local child = T.child(T.folder(files))
  child:open_chat()
  child:update({
    sessionUpdate = "available_commands_update",
    availableCommands = {
      { name = "compact", description = "Summarise the\nconversation" },
      { name = "context", description = "What fills the window" },
      { name = "model", description = "Choose the model" },
    },
  })
  return child
end

--- What stands in the prompt.
local function prompt(child)
  return child:run(function()
    local buf = require("undine.state").view.prompt
    return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
  end)
end

--- What is offered now: `word menu` each.
local function offered(child)
  return child:run(function()
    return vim.tbl_map(function(it)
      return it.word .. "  " .. it.menu
    end, vim.fn.complete_info({ "items" }).items)
  end)
end

local function words(child)
  return vim.tbl_map(function(it)
    return it:match("^(.-)  ")
  end, offered(child))
end

local function git(folder, ...)
  vim.fn.delete(folder .. "/.git", "rf")
  for _, args in ipairs({ { "init", "-q" }, ... }) do
    local cmd = vim.list_extend({ "git", "-c", "core.excludesFile=" }, args)
    assert(vim.system(cmd, { cwd = folder }):wait().code == 0, table.concat(args, " "))
  end
end

return {
  ["a slash at the beginning completes the session's commands, with what they do"] = function(T)
    local child = begin(T)
    child:keys("i/co<Tab>")
    T.eq(offered(child), {
      "/compact  Summarise the conversation",
      "/context  What fills the window",
    })
    T.has(child:screen(), "What fills the window")
    T.eq(prompt(child), "/compact")
    child:keys("<Tab>")
    T.eq(prompt(child), "/context")
    child:keys("<C-y><C-u>  /mo<C-x><C-o>")
    T.eq(prompt(child), "  /model")
  end,

  ["a slash elsewhere is a slash, and the key is itself"] = function(T)
    local child = begin(T)
    child:keys("ia /co<Tab>")
    T.eq(prompt(child), "a /co\t")
    child:keys("<C-u><CR>/co<Tab>")
    T.eq(prompt(child), "\n/compact")
    child:keys("<C-e><C-u>me@exam<Tab>")
    T.eq(prompt(child), "\nme@exam\t")
  end,

  ["an at offers what can be mentioned and what lies at the top of the project"] = function(T)
    local child = begin(T, { ["a.txt"] = "", ["src/b.rs"] = "", ["src/deep/c.rs"] = "" })
    child:keys("iSee (@<C-x><C-o>")
    T.eq(offered(child), {
      "@selection  what was selected last in the file",
      "@diagnostics  the problems that are shown",
      "@diff  what has changed since the last commit",
      "@symbol:  where a symbol is; its name follows",
      "@a.txt  file",
      "@src/  folder",
    })
    child:keys("<C-e>src/<Tab>")
    T.eq(words(child), { "@src/", "@src/b.rs", "@src/deep/", "@src/deep/c.rs" })
    child:keys("<C-e><C-u>@di<Tab>")
    T.eq(words(child), { "@diagnostics", "@diff" })
  end,

  ["a file is found by a part of its path, and what is typed on narrows it"] = function(T)
    local child = begin(T, { ["src/Main.rs"] = "", ["src/map.rs"] = "", ["main/x.txt"] = "" })
    child:cmd("set completeopt=menu,menuone,noinsert")
    child:keys("i@ma<Tab>")
    T.eq(words(child), { "@main/", "@src/Main.rs", "@src/map.rs", "@main/x.txt" })
    child:keys("p")
    T.eq(words(child), { "@src/map.rs" })
    child:keys("<Tab>")
    T.eq(prompt(child), "@src/map.rs")
  end,

  ["a path that holds blanks is quoted, and a quote that is open goes on"] = function(T)
    local child = begin(T, { ["my notes.md"] = "", ["my list (old)"] = "" })
    child:keys("i@my l<Esc>")
    child:keys("S@my<Tab>")
    T.eq(words(child), { '@"my list (old)"', '@"my notes.md"' })
    child:keys('<C-e><C-u>and @"my no<Tab>')
    T.eq(prompt(child), 'and @"my notes.md"')
    child:keys(" @sel<Tab>")
    T.eq(prompt(child), 'and @"my notes.md" @selection')
  end,

  ["what git ignores is not offered, what is new is"] = function(T)
    local folder = T.folder({
      [".gitignore"] = "out/\n",
      ["old.txt"] = "",
      ["new.txt"] = "",
      ["out/made.txt"] = "",
    })
    git(folder, { "add", ".gitignore", "old.txt" })
    local child = T.child(folder)
    child:open_chat()
    child:keys("i@<Tab>")
    child:wait(function()
      return not require("undine.state").file_names[vim.fn.getcwd()].is_listing
    end)
    child:keys("<C-e><Tab>")
    local found = words(child)
    T.eq(vim.list_slice(found, 5), { "@.gitignore", "@new.txt", "@old.txt" })
  end,

  ["without git hidden folders and links are not followed, and a list has an end"] = function(T)
    local files = { ["src/a.rs"] = "", [".cache/x"] = "", ["node_modules/y"] = "" }
    local folder = T.folder(files)
    assert(vim.uv.fs_symlink(folder, folder .. "/loop"))
    local child = T.child(folder)
    local names = child:run(function()
      local names = require("undine.file_names").of(vim.fn.getcwd(), 5000)
      table.sort(names)
      return names
    end)
    T.eq(names, { "loop", "src/", "src/a.rs" })
  end,

  ["a big tree is listed while the editor works, up to a limit"] = function(T)
    local folder = T.folder()
    git(folder)
    -- An index of many names is made without their files.
    local entries = {}
    local entry = "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\td%d/f%d.txt\n"
    for at = 1, 25000 do
      entries[at] = entry:format(at % 50, at)
    end
    local cmd = { "git", "update-index", "--index-info" }
    local made = vim.system(cmd, { cwd = folder, stdin = table.concat(entries) }):wait()
    T.eq(made.code, 0, made.stderr)
    local child = T.child(folder)
    child:open_chat()
    T.eq(
      child:run(function()
        return #require("undine.file_names").of(vim.fn.getcwd(), 0)
      end),
      0,
      "nobody waits"
    )
    child:wait(function()
      return not require("undine.state").file_names[vim.fn.getcwd()].is_listing
    end)
    T.eq(
      child:run(function()
        return #require("undine.file_names").of(vim.fn.getcwd(), 0)
      end),
      20000
    )
    child:keys("i@f199<Tab>")
    T.ok(#words(child) <= 200 and #words(child) > 0, "some of them are offered")
  end,

  ["updates that come while names are waited for are drawn afterwards"] = function(T)
    local child = begin(T, { ["a.txt"] = "" })
    child:run(function()
      vim.schedule(function()
        local content = { type = "text", text = "Good morning." }
        fake.update({ sessionUpdate = "agent_message_chunk", content = content })
      end)
      vim.api.nvim_input("i@a<Tab>")
    end)
    child:see("Good morning.")
    child:wait(function()
      return vim.api.nvim_get_current_line() == "@a.txt"
    end)
  end,

  ["a mapping of the person's own stays, and false sets no key"] = function(T)
    local child = T.child()
    child:cmd("inoremap <Tab> mine")
    child:open_chat()
    child:keys("i/<Tab>")
    T.eq(prompt(child), "/mine")
    local other = T.child()
    other:run(function()
      require("undine").setup({ cmd = fake.cmd, keys = { complete = false } })
    end)
    other:open_chat()
    other:keys("i@sel<Tab>")
    T.eq(prompt(other), "@sel\t")
    other:keys("<BS><C-x><C-o>")
    T.eq(prompt(other), "@selection")
  end,

  ["a path is a mention that the server reads as this path"] = function(T)
    local mention = require("undine.completion").mention
    T.eq(mention("src/a.rs"), "@src/a.rs")
    T.eq(mention("a b"), '@"a b"')
    T.eq(mention("a\226\128\175b.png"), '@"a\226\128\175b.png"')
    T.eq(mention("a:10"), '@"a:10"')
    T.eq(mention("a:10-20"), '@"a:10-20"')
    T.eq(mention("old)"), '@"old)"')
    T.eq(mention("diff"), '@"diff"')
    T.eq(mention("symbol:x"), '@"symbol:x"')
    T.eq(mention('a"b'), '@a"b')
    T.eq(mention('"a'), nil)
    T.eq(mention('a "b'), nil)
  end,

  ["a word is found where the server would find it"] = function(T)
    local from = require("undine.completion").from
    T.eq(from("/co", true), 1)
    T.eq(from("  /co", true), 3)
    T.eq(from("/co x", true), nil)
    T.eq(from("/co", false), nil)
    T.eq(from("/add @a", true), 6)
    T.eq(from("me@x", true), nil)
    T.eq(from("@a b", true), nil)
    T.eq(from('@"a b', true), 1)
    T.eq(from('@"a b" (@c', true), 9)
    T.eq(from("a@b @", true), 5)
  end,
}
