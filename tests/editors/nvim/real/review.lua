--- Changes made without asking, and their review, with the real program.
local scenes = require("scene")

--- A project in which the agent may edit without asking, with the cursor in a.txt.
local function open(T, files)
  local scene = scenes.open(T, files)
  scene.child:cmd("edit a.txt")
  scene:open_chat()
  scene.child:cmd("UndineMode auto")
  scene.child:wait(function()
    return require("undine.state").shown().mode == "auto"
  end)
  scene.child:cmd("wincmd h")
  return scene
end

--- Lets the agent edit a file without a question.
local function edit(scene, id, path, target, replacement)
  scene:prompt("Edit it.")
  scene.model:call(id, "edit_file", {
    path = path,
    target_content = target,
    replacement_content = replacement,
  })
  scene.model:answer("Done.")
  scene:rests()
  scene.child:cmd("wincmd h")
end

--- Waits until the file's buffer shows these hunks: `{ first row, number of lines, base text, state }` each.
local function shows(scene, name, want)
  scene.T.wait(function()
    return vim.deep_equal(scene:hunks(name), want)
  end, function()
    local text = "%s shows %s, not %s\n%s"
    return text:format(
      name,
      vim.inspect(scene:hunks(name)),
      vim.inspect(want),
      scene.child:screen()
    )
  end)
end

local five = "one\ntwo\nthree\nfour\nfive\n"
local change = { { 2, 2, "three\n", "pending" } }

return {
  ["an edit made without asking is seen, reverted by key, and undo takes that back"] = function(T)
    local scene = open(T, { ["a.txt"] = five })
    edit(scene, "e1", "a.txt", "three", "III\n3")
    shows(scene, "a.txt", change)
    scene.child:see("~ III")
    scene.child:keys("gg]h")
    T.eq(scene:cursor_line(), 3)
    scene.child:keys("<Space>ux")
    shows(scene, "a.txt", {})
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five" })
    T.eq(
      scene.child:run(function()
        return require("undine").status()
      end),
      ""
    )
    scene.child:keys("u")
    T.eq(scene:lines("a.txt"), { "one", "two", "III", "3", "four", "five" })
    -- It is the agent's work again, which the person has not accepted.
    shows(scene, "a.txt", change)
    scene.child:keys("u")
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five" })
    shows(scene, "a.txt", {})
    scene.child:keys("<C-r>")
    shows(scene, "a.txt", change)
    scene.child:keys("<C-r>")
    T.eq(scene:lines("a.txt"), { "one", "two", "three", "four", "five" })
    shows(scene, "a.txt", {})
  end,

  ["a change that is kept is gone from sight and its text stays"] = function(T)
    local scene = open(T, { ["a.txt"] = five })
    edit(scene, "e1", "a.txt", "three", "III\n3")
    shows(scene, "a.txt", change)
    scene.child:keys("3G<Space>uk")
    shows(scene, "a.txt", {})
    T.eq(scene:lines("a.txt"), { "one", "two", "III", "3", "four", "five" })
  end,

  ["typing elsewhere moves a change, typing in it makes it the person's too"] = function(T)
    local scene = open(T, { ["a.txt"] = five })
    edit(scene, "e1", "a.txt", "three", "III\n3")
    shows(scene, "a.txt", change)
    scene.child:keys("ggOzero<Esc>Gosix<Esc>")
    shows(scene, "a.txt", { { 3, 2, "three\n", "pending" } })
    scene.child:keys("4GA and mine<Esc>")
    shows(scene, "a.txt", { { 3, 2, "three\n", "mixed" } })
    scene.child:see("yours too")
    scene.child:cmd("UndineRevert file")
    scene.child:see("1 change stays: your own work is in it.")
    T.eq(scene:lines("a.txt"), { "zero", "one", "two", "III and mine", "3", "four", "five", "six" })
    scene.child:keys("4G<Space>ux")
    shows(scene, "a.txt", {})
    T.eq(scene:lines("a.txt"), { "zero", "one", "two", "three", "four", "five", "six" })
  end,

  ["a file that was closed is listed, compared with what it was, and drawn when it is opened"] = function(
    T
  )
    local scene = open(T, { ["a.txt"] = "a\n", ["b.txt"] = five })
    scene.child:cmd("edit b.txt | edit a.txt")
    edit(scene, "e1", "b.txt", "three", "III\n3")
    shows(scene, "b.txt", change)
    T.eq(scene:disk("b.txt"), "one\ntwo\nIII\n3\nfour\nfive\n")
    scene.child:cmd("bwipeout b.txt")
    scene:settle()
    scene.child:wait(function()
      return require("undine").status() == "1 change"
    end)
    scene.child:cmd("UndineReview all")
    scene.child:see("+2 -1  III")
    scene.child:cmd("cclose | UndineReview diff")
    scene.child:see("Accepted: b.txt")
    scene.child:wait(function()
      local buf = vim.api.nvim_win_get_buf(vim.api.nvim_tabpage_list_wins(0)[1])
      return vim.api.nvim_buf_get_lines(buf, 2, 3, false)[1] == "three"
    end)
    shows(scene, "b.txt", change)
    scene.child:keys("<Space>uX")
    shows(scene, "b.txt", {})
    T.eq(scene:lines("b.txt"), { "one", "two", "three", "four", "five" })
  end,

  ["a file that was never open is listed and reverted on the disk"] = function(T)
    local scene = open(T, { ["a.txt"] = "a\n", ["b.txt"] = five })
    edit(scene, "e1", "b.txt", "three", "III\n3")
    scene.child:wait(function()
      return require("undine").status() == "1 change"
    end)
    scene.child:cmd("UndineReview all")
    scene.child:see("+2 -1  III")
    scene.child:cmd("UndineRevert hunk")
    scene.child:wait(function()
      return require("undine").status() == ""
    end)
    T.eq(scene:disk("b.txt"), five)
  end,

  ["a file that the agent made says so, and its revert takes it and its buffer away"] = function(T)
    local scene = open(T, { ["a.txt"] = "a\n" })
    scene:prompt("Make it.")
    scene.model:call("e1", "write_file", { path = "new.txt", content = "one\ntwo\n" })
    scene.model:answer("Done.")
    scene:rests()
    scene.child:cmd("wincmd h")
    scene.child:wait(function()
      return require("undine").status() == "1 change"
    end)
    scene.child:cmd("edit new.txt")
    scene.child:see("Made by Undine")
    T.eq(scene:hunks("new.txt"), { { 0, 2, "", "pending" } })
    scene.child:keys("<Space>uX")
    scene.child:wait(function()
      return require("undine").status() == ""
    end)
    T.eq(vim.uv.fs_stat(scene:path("new.txt")), nil)
    scene.child:wait(function()
      return vim.fn.bufexists("new.txt") == 0
    end)
    T.eq(
      scene.child:run(function()
        return { vim.fn.winnr("$"), vim.fn.bufname() }
      end),
      { 3, "a.txt" }
    )
  end,

  ["a file that the agent deleted is in the list, and comes back"] = function(T)
    local scene = open(T, { ["a.txt"] = "a\n", ["b.txt"] = five })
    scene:prompt("Delete it.")
    scene.model:call("e1", "delete_file", { path = "b.txt" })
    scene.model:answer("Done.")
    scene:rests()
    scene.child:cmd("wincmd h")
    scene.child:wait(function()
      return require("undine").status() == "1 change"
    end)
    T.eq(vim.uv.fs_stat(scene:path("b.txt")), nil)
    scene.child:cmd("UndineReview all")
    scene.child:see("the file was deleted")
    scene.child:cmd("UndineRevert hunk")
    scene.child:wait(function()
      return require("undine").status() == ""
    end)
    T.eq(scene:disk("b.txt"), five)
  end,

  ["a checkpoint gives a file back what it was"] = function(T)
    local scene = open(T, { ["a.txt"] = five })
    scene.child:cmd("UndineCheckpoint a.txt")
    scene.child:see("made a checkpoint of 1 file")
    edit(scene, "e1", "a.txt", "three", "III\n3")
    shows(scene, "a.txt", change)
    scene.child:run(function()
      vim.ui.select = function(items, _, done)
        done(items[#items == 2 and items[1] == true and 1 or #items])
      end
    end)
    scene.child:cmd("UndineCheckpoints")
    scene.child:see("restored 1 file")
    T.eq(scene:disk("a.txt"), five)
    scene.child:wait(function()
      return vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 2, 3, false)[1] == "three"
    end)
    shows(scene, "a.txt", {})
  end,
}
