--- Edits into open buffers: one undo step, nothing else touched, the disk as it should be.
local scenes = require("scene")

--- Lets the model propose this edit of a.txt and waits until the person is asked.
local function propose(scene, target, replacement)
  scene:prompt("Edit it.")
  scene.model:call("e1", "edit_file", {
    path = "a.txt",
    target_content = target,
    replacement_content = replacement,
  })
  scene:asks()
end

--- Says yes, lets the model end the turn, and returns what it was told of the edit.
local function accept(scene)
  scene.child:cmd("UndineAccept")
  local told = scene.model:answer("Done."):result("e1")
  scene:rests()
  return told
end

--- The cursor of the window that shows a.txt, and the text from there on.
local function cursor(scene)
  return scene.child:run(function()
    local buf = vim.fn.bufnr("a.txt")
    local win = vim.fn.win_findbuf(buf)[1]
    local at = vim.api.nvim_win_get_cursor(win)
    local line = vim.api.nvim_buf_get_lines(buf, at[1] - 1, at[1], true)[1]
    return { at[1], at[2], line:sub(at[2] + 1) }
  end)
end

local function undo(scene)
  scene.child:run(function()
    vim.api.nvim_buf_call(vim.fn.bufnr("a.txt"), function()
      vim.cmd("silent undo")
    end)
  end)
end

local five = "one\ntwo\nthree\nfour\nfive\n"
local saved = "Changed a.txt (+2 -1 lines)."
local unsaved =
  "Changed a.txt (+2 -1 lines) in the editor. It is not saved yet, so commands do not see it."

--- Opens a.txt with the cursor on this line's second column, in the file's window or, then, with the chat's as the
--- current one, and has the third line replaced by two.
local function edit_with_cursor(T, line, is_in_chat)
  local scene = scenes.open(T, { ["a.txt"] = five })
  scene.child:cmd("edit a.txt")
  scene.child:keys(line .. "Gl")
  propose(scene, "three", "III\n3")
  if not is_in_chat then
    scene.child:cmd("wincmd h")
  end
  T.eq(accept(scene), saved)
  T.eq(scene:lines("a.txt"), { "one", "two", "III", "3", "four", "five" })
  T.eq(scene:disk("a.txt"), "one\ntwo\nIII\n3\nfour\nfive\n")
  T.eq(scene:modified("a.txt"), false)
  return scene
end

return {
  ["an edit below the cursor leaves it, and is saved in a clean buffer"] = function(T)
    local scene = edit_with_cursor(T, 1)
    T.eq(cursor(scene), { 1, 1, "ne" })
    scene.child:keys("u")
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five" })
    T.eq(scene:disk("a.txt"), "one\ntwo\nIII\n3\nfour\nfive\n")
  end,

  ["an edit above the cursor keeps it on its text"] = function(T)
    local scene = edit_with_cursor(T, 5)
    T.eq(cursor(scene), { 6, 1, "ive" })
    undo(scene)
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five" })
  end,

  ["an edit keeps the cursor of a window one is not in"] = function(T)
    local scene = edit_with_cursor(T, 4, true)
    T.eq(cursor(scene), { 5, 1, "our" })
    undo(scene)
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five" })
  end,

  ["unsaved work stays, is not saved with the edit, and one undo takes back the edit alone"] = function(
    T
  )
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    scene.child:keys("Gomine<Esc>")
    propose(scene, "three", "III\n3")
    T.eq(accept(scene), unsaved)
    T.eq(scene:lines("a.txt"), { "one", "two", "III", "3", "four", "five", "mine" })
    T.eq(scene:modified("a.txt"), true)
    T.eq(scene:disk("a.txt"), five)
    undo(scene)
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five", "mine" })
    undo(scene)
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five" })
  end,

  ["two edits of one answer are shown each by itself, and are two undo steps"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    scene:prompt("Edit both.")
    local request = scene.model:next()
    for at, word in ipairs({ "one", "five" }) do
      request:call("e" .. at, "edit_file", {
        path = "a.txt",
        target_content = word,
        replacement_content = word:upper(),
      })
    end
    request:finish()
    for _ = 1, 2 do
      scene:asks()
      T.lacks(scene.child:screen(), "2/2")
      scene.child:run(function()
        _G.answered = require("undine.state").asks[1]
        vim.cmd("UndineAccept")
      end)
      scene.child:wait(function()
        return answered.is_over
      end)
    end
    request = scene.model:answer("Done.")
    T.has(request:result("e1"), "Changed a.txt")
    T.has(request:result("e2"), "Changed a.txt")
    scene:rests()
    T.eq(scene:disk("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n")
    undo(scene)
    local ends = scene:lines("a.txt")
    T.eq({ ends[1] == "ONE", ends[5] == "FIVE" }, { ends[5] ~= "FIVE", ends[1] ~= "ONE" })
    undo(scene)
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five" })
  end,

  ["a refused edit leaves every byte and the undo history, and the model hears the reason"] = function(
    T
  )
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    scene.child:keys("Gomine<Esc>")
    local function everything()
      return scene.child:run(function()
        local buf = vim.fn.bufnr("a.txt")
        return {
          vim.api.nvim_buf_get_lines(buf, 0, -1, false),
          vim.bo[buf].modified,
          vim.api.nvim_buf_get_changedtick(buf),
          vim.fn.undotree(buf),
        }
      end)
    end
    local before = everything()
    propose(scene, "three", "3")
    scene.child:cmd("UndineReject numbers are words here")
    local request = scene.model:answer("I see.")
    T.eq(request:result("e1"), "Denied by the person: numbers are words here")
    scene:rests()
    T.eq(everything(), before)
    T.eq(scene:disk("a.txt"), five)
    T.eq(
      scene.child:run(function()
        local ns = require("undine.state").ns
        return #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), ns, 0, -1, {})
      end),
      0,
      "marks left in the buffer"
    )
  end,

  ["typing elsewhere while an edit waits moves it along without asking again"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    propose(scene, "three", "III\n3")
    scene.child:cmd("wincmd h")
    scene.child:keys("ggOzero<Esc>Gosix<Esc>")
    T.eq(accept(scene), unsaved)
    T.eq(scene:lines("a.txt"), { "zero", "one", "two", "III", "3", "four", "five", "six" })
    T.eq(scene:disk("a.txt"), five)
    undo(scene)
    T.eq(scene:lines("a.txt"), { "zero", "one", "two", "three", "four", "five", "six" })
  end,

  ["keys that overtake an edit on its way make it be placed anew"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    propose(scene, "three", "III\n3")
    scene.child:run(function()
      local edits = require("undine.workspace_edits")
      local apply, n_left = edits.apply, 2
      edits.apply = function(...)
        if n_left > 0 then
          n_left = n_left - 1
          vim.api.nvim_buf_set_lines(vim.fn.bufnr("a.txt"), 0, 0, true, { "typed just before" })
        end
        return apply(...)
      end
    end)
    T.eq(accept(scene), unsaved)
    local typed = "typed just before"
    T.eq(scene:lines("a.txt"), { typed, typed, "one", "two", "III", "3", "four", "five" })
    T.eq(scene:disk("a.txt"), five)
  end,

  ["an edit lands below a person who is typing, whatever comes first"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    propose(scene, "three", "III\n3")
    scene.child:cmd("wincmd h")
    scene.child:keys("ggOtyp")
    scene.child:cmd("UndineAccept")
    scene.child:keys("ing<CR>more")
    T.eq(scene.model:answer("Done."):result("e1"), unsaved)
    scene.child:keys("<Esc>")
    scene:rests()
    T.eq(scene:lines("a.txt"), { "typing", "more", "one", "two", "III", "3", "four", "five" })
  end,

  ["typing on the line that an edit is about makes it ask again, with the line as it is now"] = function(
    T
  )
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    propose(scene, "three", "3")
    scene.child:cmd("wincmd h")
    scene.child:keys("3GA and a half<Esc>")
    scene.child:run(function()
      _G.first = require("undine.state").asks[1]
    end)
    scene.child:cmd("UndineAccept")
    scene.child:wait(function()
      local ask = require("undine.state").asks[1]
      return ask and ask ~= _G.first and ask.is_shown
    end)
    T.eq(scene:lines("a.txt")[3], "three and a half")
    T.eq(
      accept(scene),
      "Changed a.txt (+1 -1 lines) in the editor. It is not saved yet, so commands do not see it."
    )
    T.eq(scene:lines("a.txt")[3], "3 and a half")
  end,

  ["when the person has changed the very words, nothing is done and the model is told"] = function(
    T
  )
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    propose(scene, "three", "3")
    scene.child:cmd("wincmd h")
    scene.child:keys("3Gccdrei<Esc>")
    T.has(accept(scene), "not")
    T.eq(scene:lines("a.txt"), { "one", "two", "drei", "four", "five" })
    T.eq(scene:disk("a.txt"), five)
  end,

  ["an edit behind é, emoji and CJK lands exactly, byte for byte"] = function(T)
    local line = "é ö 😀👩‍👩‍👧 日本語 e\u{301} target 😀 tail"
    local scene = scenes.open(T, { ["a.txt"] = "first\n" .. line .. "\nlast\n" })
    scene.child:cmd("edit a.txt")
    propose(scene, "target 😀", "日 goal")
    T.eq(accept(scene), "Changed a.txt (+1 -1 lines).")
    local new = line:gsub("target 😀", "日 goal")
    T.eq(scene:lines("a.txt"), { "first", new, "last" })
    T.eq(scene:disk("a.txt"), "first\n" .. new .. "\nlast\n")
    undo(scene)
    T.eq(scene:lines("a.txt"), { "first", line, "last" })
  end,

  ["a file with CRLF keeps it in every line"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\r\ntwo é\r\nthree\r\n" })
    scene.child:cmd("edit a.txt")
    T.eq(
      scene.child:run(function()
        return vim.bo.fileformat
      end),
      "dos"
    )
    propose(scene, "two é\nthree", "zwei\n2.5\ndrei")
    T.eq(accept(scene), "Changed a.txt (+3 -2 lines).")
    T.eq(scene:lines("a.txt"), { "one", "zwei", "2.5", "drei" })
    T.eq(scene:disk("a.txt"), "one\r\nzwei\r\n2.5\r\ndrei\r\n")
    undo(scene)
    T.eq(scene:lines("a.txt"), { "one", "two é", "three" })
  end,

  ["lines that end in CRLF among others keep their ends"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\r\ntwo\nthree\r\nfour\n" })
    scene.child:cmd("edit a.txt")
    propose(scene, "three", "III\nIV")
    T.eq(accept(scene), saved)
    T.eq(scene:lines("a.txt")[1], "one\r")
    T.eq(scene:disk("a.txt"), "one\r\ntwo\nIII\r\nIV\r\nfour\n")
  end,

  ["a file with a byte order mark keeps it and is saved"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "\xef\xbb\xbfone\ntwo\n" })
    scene.child:cmd("edit a.txt")
    propose(scene, "two", "zwei")
    T.eq(accept(scene), "Changed a.txt (+1 -1 lines).")
    T.eq(scene:disk("a.txt"), "\xef\xbb\xbfone\nzwei\n")
  end,

  ["a NUL in a changed line stays"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "a\0b target\nlast\n" })
    scene.child:cmd("edit a.txt")
    propose(scene, "target", "goal")
    T.eq(accept(scene), "Changed a.txt (+1 -1 lines).")
    T.eq(scene:disk("a.txt"), "a\0b goal\nlast\n")
  end,

  ["a file in which a carriage return is no line end is left alone, and the model is told"] = function(
    T
  )
    local scene = scenes.open(T, { ["a.txt"] = "lone\rreturn\nlast\n" })
    scene.child:cmd("edit a.txt")
    propose(scene, "last", "end")
    T.has(accept(scene), "line 1 holds a carriage return that is no line end")
    T.eq(scene:lines("a.txt"), { "lone\rreturn", "last" })
    T.eq(scene:modified("a.txt"), false)
  end,

  ["a buffer that cannot be modified is left alone, and the model is told"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt | setlocal nomodifiable")
    propose(scene, "three", "3")
    T.has(accept(scene), "the buffer is not modifiable")
    T.eq(scene:disk("a.txt"), five)
  end,

  ["a formatter that runs when the file is saved is seen by the next read"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    scene.child:cmd("autocmd BufWritePre * %s/III/formatted/")
    propose(scene, "three", "III\n3")
    T.eq(accept(scene), saved)
    T.eq(scene:disk("a.txt"), "one\ntwo\nformatted\n3\nfour\nfive\n")
    scene:prompt("Read it.")
    scene.model:call("r1", "read_file", { path = "a.txt" })
    T.eq(scene.model:answer("Good."):result("r1"), "one\ntwo\nformatted\n3\nfour\nfive\n")
    scene:rests()
  end,

  ["a file without a final newline stays without"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\ntwo" })
    scene.child:cmd("edit a.txt")
    propose(scene, "two", "zwei\ndrei")
    T.eq(accept(scene), "Changed a.txt (+2 -1 lines).")
    T.eq(scene:lines("a.txt"), { "one", "zwei", "drei" })
    T.eq(scene:disk("a.txt"), "one\nzwei\ndrei")
    T.eq(scene:modified("a.txt"), false)
  end,

  ["an edit can add the final newline"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\ntwo" })
    scene.child:cmd("edit a.txt")
    propose(scene, "two", "two\n")
    T.eq(accept(scene), "Changed a.txt (+1 -1 lines).")
    T.eq(scene:disk("a.txt"), "one\ntwo\n")
    T.eq(scene:lines("a.txt"), { "one", "two" })
    T.eq(scene:modified("a.txt"), false)
  end,

  ["an edit can take the final newline away"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\ntwo\n" })
    scene.child:cmd("edit a.txt")
    propose(scene, "two\n", "two")
    T.eq(accept(scene), "Changed a.txt (+1 -1 lines).")
    T.eq(scene:disk("a.txt"), "one\ntwo")
    T.eq(scene:lines("a.txt"), { "one", "two" })
    T.eq(scene:modified("a.txt"), false)
  end,

  ["a person's own write, which adds the final newline, leaves the buffer clean for the next edit"] = function(
    T
  )
    local scene = scenes.open(T, { ["a.txt"] = "one\ntwo" })
    scene.child:cmd("edit a.txt")
    scene:prompt("Hello.")
    scene.model:answer("Hello.")
    scene:rests()
    scene.child:cmd("wincmd h")
    scene.child:keys("ccuno<Esc>:write<CR>")
    T.eq(scene:disk("a.txt"), "uno\ntwo\n")
    propose(scene, "two", "dos")
    T.eq(accept(scene), "Changed a.txt (+1 -1 lines).")
    T.eq(scene:disk("a.txt"), "uno\ndos\n")
  end,

  ["an empty file is filled and saved"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "" })
    scene.child:cmd("edit a.txt")
    scene:prompt("Fill it.")
    scene.model:call("r1", "read_file", { path = "a.txt" })
    scene.model:call("e1", "write_file", { path = "a.txt", content = "one\ntwo\n" })
    scene:asks()
    T.has(accept(scene), "Changed a.txt")
    T.eq(scene:lines("a.txt"), { "one", "two" })
    T.eq(scene:disk("a.txt"), "one\ntwo\n")
  end,

  ["of a change of two places one is made, and the model hears that the other was refused"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    scene:prompt("Edit it.")
    scene.model:call("e1", "apply_patch", {
      patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n@@\n-five\n+FIVE\n*** End Patch\n",
    })
    scene:asks()
    scene.child:cmd("wincmd h")
    scene.child:keys("gg:lua require('undine.review').choose(true)<CR>")
    scene.child:keys("G:lua require('undine.review').choose(false)<CR>")
    local told = scene.model:answer("Done."):result("e1")
    scene:rests()
    T.has(told, "The person refused a part of this change")
    T.eq(scene:lines("a.txt"), { "ONE", "two", "three", "four", "five" })
    T.eq(scene:disk("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n")
  end,

  ["a new file is shown before it is, and made by a yes"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = five })
    scene.child:cmd("edit a.txt")
    scene:prompt("Make it.")
    scene.model:call("e1", "write_file", { path = "sub/b.txt", content = "new é\n" })
    scene:asks()
    T.ok(not vim.uv.fs_stat(scene:path("sub/b.txt")), "nothing is on disk before the yes")
    T.has(accept(scene), "Created sub/b.txt")
    T.eq(scene:disk("sub/b.txt"), "new é\n")
  end,
}
