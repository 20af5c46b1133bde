--- Edits and saves in open buffers.

--- A child with a.txt open, the cursor in it, and the chat beside it.
local function begin(T, text)
  local child = T.child(T.folder({ ["a.txt"] = text }))
  child:cmd("edit a.txt")
  child:open_chat()
  child:cmd("wincmd h")
  return child
end

--- Sends `workspace/applyEdit` that replaces the rows `first` to `last` (0-based, the end exclusive) for each edit.
local function apply(child, edits, version)
  child:run(function(path, list, at)
    local uri = vim.uri_from_fname(path)
    local texts = vim.tbl_map(function(it)
      return {
        range = {
          start = { line = it[1], character = 0 },
          ["end"] = { line = it[2], character = 0 },
        },
        newText = it[3],
      }
    end, list)
    local buf = vim.fn.bufnr("^" .. path .. "$")
    local document =
      { uri = uri, version = at or (buf > 0 and vim.lsp.util.buf_versions[buf]) or nil }
    fake.ask("workspace/applyEdit", {
      label = "Undine",
      edit = { documentChanges = { { textDocument = document, edits = texts } } },
    })
  end, child.folder .. "/a.txt", edits, version)
  return child:answer("workspace/applyEdit")
end

local function lines(child)
  return child:run(function()
    return vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 0, -1, false)
  end)
end

local function cursor(child)
  return child:run(function()
    local win = vim.fn.win_findbuf(vim.fn.bufnr("a.txt"))[1]
    return vim.api.nvim_win_get_cursor(win)
  end)
end

local applied = '{"applied":true}'
local method = "workspace/applyEdit"
local start = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 0 } }

local function change(...)
  return { label = "Undine", edit = { documentChanges = { ... } } }
end

local function create(uri, options)
  return { kind = "create", uri = uri, options = options }
end

return {
  ["an edit of several places is one undo step and the cursor stays on its text"] = function(T)
    local child = begin(T, "one\ntwo\nthree\nfour\nfive\n")
    child:keys("3G2l")
    T.eq(apply(child, { { 0, 1, "uno\nuno y medio\n" }, { 4, 5, "cinco\n" } }), applied)
    T.eq(lines(child), { "uno", "uno y medio", "two", "three", "four", "cinco" })
    T.eq(cursor(child), { 4, 2 })
    child:keys("u")
    T.eq(lines(child), { "one", "two", "three", "four", "five" })
  end,

  ["two edits are two undo steps"] = function(T)
    local child = begin(T, "one\ntwo\n")
    T.eq(apply(child, { { 0, 1, "uno\n" } }), applied)
    T.eq(apply(child, { { 1, 2, "dos\n" } }), applied)
    child:keys("u")
    T.eq(lines(child), { "uno", "two" })
    child:keys("u")
    T.eq(lines(child), { "one", "two" })
  end,

  ["two edits that come at once are two undo steps, also in another window"] = function(T)
    local child = begin(T, "one\ntwo\n")
    child:keys("<C-w>l")
    child:run(function(path)
      for row, text in ipairs({ "uno", "dos" }) do
        local range = {
          start = { line = row - 1, character = 0 },
          ["end"] = { line = row - 1, character = 3 },
        }
        fake.ask("workspace/applyEdit", {
          edit = {
            documentChanges = {
              {
                textDocument = { uri = vim.uri_from_fname(path) },
                edits = { { range = range, newText = text } },
              },
            },
          },
        })
      end
    end, child.folder .. "/a.txt")
    T.eq(child:answer("workspace/applyEdit"), applied)
    T.eq(child:answer("workspace/applyEdit"), applied)
    T.eq(lines(child), { "uno", "dos" })
    child:keys("<C-w>hu")
    T.eq(lines(child), { "uno", "two" })
  end,

  ["unsaved work stays, and undo takes back the edit alone"] = function(T)
    local child = begin(T, "one\ntwo\n")
    child:keys("Gomine<Esc>")
    T.eq(apply(child, { { 0, 1, "uno\n" } }), applied)
    T.eq(lines(child), { "uno", "two", "mine" })
    T.eq(cursor(child), { 3, 3 })
    child:keys("u")
    T.eq(lines(child), { "one", "two", "mine" })
    child:keys("u")
    T.eq(lines(child), { "one", "two" })
    T.eq(T.read(child.folder .. "/a.txt"), "one\ntwo\n")
  end,

  ["a cursor in another window stays on its text"] = function(T)
    local child = begin(T, "one\ntwo\nthree\n")
    child:keys("3G3l<C-w>l")
    T.eq(apply(child, { { 0, 1, "uno\nuno\nuno\n" } }), applied)
    T.eq(cursor(child), { 5, 3 })
    child:cmd("wincmd h")
    child:keys("u")
    T.eq(lines(child), { "one", "two", "three" })
  end,

  ["an edit while a person inserts text loses neither"] = function(T)
    local child = begin(T, "one\ntwo\n")
    child:keys("Goab")
    T.eq(apply(child, { { 0, 1, "uno\nuno\n" } }), applied)
    child:keys("cd<Esc>")
    T.eq(lines(child), { "uno", "uno", "two", "abcd" })
    child:keys("u")
    T.eq(lines(child), { "one", "two" })
    child:keys("<C-r>")
    T.eq(lines(child), { "uno", "uno", "two", "abcd" })
  end,

  ["an edit for an older text is refused and says so"] = function(T)
    local child = begin(T, "one\ntwo\n")
    local version = child:run(function()
      return vim.lsp.util.buf_versions[vim.fn.bufnr("a.txt")]
    end)
    child:keys("Gomine<Esc>")
    local result = apply(child, { { 0, 1, "uno\n" } }, version)
    T.has(result, '"applied":false')
    T.has(result, ("the edit is for %d"):format(version))
    T.eq(lines(child), { "one", "two", "mine" })
  end,

  ["the server has the new text before the answer"] = function(T)
    local child = begin(T, "one\ntwo\n")
    apply(child, { { 0, 1, "uno\n" } })
    T.eq(
      child:run(function()
        return vim.tbl_values(fake.documents)[1].text
      end),
      "uno\ntwo\n"
    )
  end,

  ["a buffer is saved on request"] = function(T)
    local child = begin(T, "one\n")
    child:keys("Gotwo<Esc>")
    local params = { uri = "file://" .. child.folder .. "/a.txt" }
    child:ask("undine/document/save", params)
    T.eq(child:answer("undine/document/save"), '{"saved":true}')
    T.eq(T.read(child.folder .. "/a.txt"), "one\ntwo\n")
  end,

  ["a buffer that was opened through a link is saved too"] = function(T)
    local child = begin(T, "one\n")
    vim.uv.fs_symlink(child.folder .. "/a.txt", child.folder .. "/link.txt")
    child:cmd("bwipeout | edit link.txt")
    child:keys("Gotwo<Esc>")
    child:ask("undine/document/save", { uri = "file://" .. child.folder .. "/a.txt" })
    T.eq(child:answer("undine/document/save"), '{"saved":true}')
    T.eq(T.read(child.folder .. "/a.txt"), "one\ntwo\n")
  end,

  ["a buffer without changes counts as saved and its file is not written"] = function(T)
    local child = begin(T, "one\n")
    local before = vim.uv.fs_stat(child.folder .. "/a.txt").mtime
    child:ask("undine/document/save", { uri = "file://" .. child.folder .. "/a.txt" })
    T.eq(child:answer("undine/document/save"), '{"saved":true}')
    T.eq(vim.uv.fs_stat(child.folder .. "/a.txt").mtime, before)
  end,

  ["a document that is not open, or cannot be written, is not saved"] = function(T)
    local child = begin(T, "one\n")
    child:ask("undine/document/save", { uri = "file://" .. child.folder .. "/other.txt" })
    T.eq(child:answer("undine/document/save"), '{"saved":false}')
    child:keys("Gotwo<Esc>")
    child:run(function()
      vim.notify = function(text)
        _G.told = text
      end
      vim.bo[vim.fn.bufnr("a.txt")].readonly = true
    end)
    child:ask("undine/document/save", { uri = "file://" .. child.folder .. "/a.txt" })
    T.eq(child:answer("undine/document/save"), '{"saved":false}')
    T.eq(
      child:run(function()
        return told
      end),
      "Undine: a.txt could not be saved: E45: 'readonly' option is set (add ! to override)"
    )
  end,

  ["files are made, moved and removed as they are asked for, with their buffers"] = function(T)
    local child = begin(T, "one\n")
    local function uri(name)
      return vim.uri_from_fname(child.folder .. "/" .. name)
    end
    child:ask(method, change(create(uri("sub/b.txt"), { ignoreIfExists = true })))
    T.eq(child:answer(method), applied)
    T.eq(T.read(child.folder .. "/sub/b.txt"), "")
    child:ask(
      method,
      change(create(uri("c.txt")), {
        textDocument = { uri = uri("c.txt"), version = vim.NIL },
        edits = { { range = start, newText = "three\n" } },
      })
    )
    T.eq(child:answer(method), applied)
    T.eq(
      child:run(function()
        return vim.api.nvim_buf_get_lines(vim.fn.bufnr("c.txt"), 0, -1, false)
      end),
      { "three" }
    )
    child:ask(method, change({ kind = "rename", oldUri = uri("a.txt"), newUri = uri("d.txt") }))
    T.eq(child:answer(method), applied)
    T.eq(
      child:run(function()
        return { vim.fs.basename(vim.fn.bufname()), vim.fn.filereadable("a.txt") }
      end),
      { "d.txt", 0 }
    )
    child:ask(method, change({ kind = "delete", uri = uri("d.txt") }))
    T.eq(child:answer(method), applied)
    T.eq(
      child:run(function()
        return { vim.fn.filereadable("d.txt"), vim.fn.bufexists("d.txt"), vim.fn.winnr("$") }
      end),
      { 0, 0, 3 }
    )
  end,

  ["an edit of files that cannot be made whole is refused before anything is done"] = function(T)
    local child = begin(T, "one\n")
    local function uri(name)
      return vim.uri_from_fname(child.folder .. "/" .. name)
    end
    local a_version = child:run(function()
      return vim.lsp.util.buf_versions[vim.fn.bufnr("a.txt")]
    end)
    child:keys("Gomine<Esc>")
    local function text(version)
      return {
        textDocument = { uri = uri("a.txt"), version = version },
        edits = { { range = start, newText = "zero\n" } },
      }
    end
    for _, it in ipairs({
      { { create(uri("b.txt")), text(a_version) }, 1, "the edit is for" },
      { { text(vim.NIL), create(uri("a.txt")) }, 1, "a.txt exists already" },
      { { text(vim.NIL), { kind = "delete", uri = uri("a.txt") } }, 1, "a.txt has unsaved work" },
      { { { kind = "delete", uri = uri("b.txt") } }, 0, "b.txt does not exist" },
      {
        { create(uri("b.txt")), { kind = "rename", oldUri = uri("b.txt"), newUri = uri("a.txt") } },
        1,
        "a.txt exists already",
      },
      {
        { { kind = "rename", oldUri = uri("b.txt"), newUri = uri("c.txt") } },
        0,
        "b.txt does not exist",
      },
      {
        { create(uri("b.txt")), { kind = "rename", oldUri = uri("a.txt"), newUri = uri("c.txt") } },
        1,
        "a.txt has unsaved work",
      },
      { { { textDocument = { uri = uri("b.txt"), version = 3 }, edits = {} } }, 0, "is not open" },
      { { { kind = "print", uri = uri("b.txt") } }, 0, "no kind of change `print`" },
    }) do
      child:ask(method, change(unpack(it[1])))
      local answer = vim.json.decode(child:answer(method))
      T.eq({ answer.applied, answer.failedChange }, { false, it[2] }, it[3])
      T.has(answer.failureReason, it[3])
    end
    T.eq(lines(child), { "one", "mine" })
    T.eq(vim.uv.fs_stat(child.folder .. "/b.txt"), nil)
  end,
}
