--- Commands: asked about, run, seen; and not run after a No.
local scenes = require("scene")

--- Lets the model call this command and waits for the panel that asks.
local function ask_to_run(scene, command)
  scene:prompt("Run it.")
  scene.model:call("c1", "execute_command", { command = command })
  scene:asks()
  scene.child:see(command:sub(1, 20))
end

return {
  ["a command is asked about, runs on a yes, and its output is in the chat as it comes"] = function(
    T
  )
    local scene = scenes.open(T, {})
    -- The second half comes only when the test has seen the first, and the end when it has seen both.
    local wait = "while ! [ -e %s ]; do sleep 0.02; done; "
    local before, behind = wait:format("go"), wait:format("end")
    ask_to_run(scene, "echo first-half; " .. before .. "echo second; " .. behind .. "exit 3")
    local function make(name)
      local file = assert(io.open(scene:path(name), "w"))
      file:close()
    end
    T.ok(not scene:chat():find("│ first-half", 1, true), "nothing runs before the yes")
    scene.child:keys("1")
    scene:reads("│ first-half")
    make("go")
    T.has(scene:reads("│ second"), "│ first-half")
    make("end")
    local request = scene.model:answer("It failed.")
    T.eq(request:result("c1"), "first-half\nsecond\n[exit code 3]")
    local chat = scene:reads("It failed.")
    T.has(chat, "│ second")
    T.has(chat, "done, exit 3, ")
    scene:rests()
  end,

  ["Save and run saves what was typed before the command sees the file"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "alpha\n" })
    scene.child:cmd("edit a.txt")
    scene.child:run(function()
      vim.api.nvim_buf_set_lines(0, 0, 1, false, { "omega" })
    end)
    ask_to_run(scene, "cat a.txt")
    T.has(scene.child:see("Save and run"), "a.txt has unsaved edits")
    T.eq(scene:disk("a.txt"), "alpha\n")
    scene.child:keys("1")
    T.eq(scene.model:answer("I see it."):result("c1"), "omega\n")
    T.eq(scene:disk("a.txt"), "omega\n")
    T.ok(not scene:modified("a.txt"), "the buffer is saved")
    scene:rests()
  end,

  ["Run anyway leaves the buffer as it is and says what was not seen"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "alpha\n" })
    scene.child:cmd("edit a.txt")
    scene.child:run(function()
      vim.api.nvim_buf_set_lines(0, 0, 1, false, { "omega" })
    end)
    ask_to_run(scene, "cat a.txt")
    scene.child:keys("2")
    local unseen = "[The editor has unsaved edits that the command did not see: a.txt]"
    T.eq(scene.model:answer("I see it."):result("c1"), "alpha\n" .. unseen)
    T.has(scene:reads("I see it."), unseen)
    T.ok(scene:modified("a.txt"), "the buffer is as it was")
    scene:rests()
  end,

  ["a command that is refused does not run, and the model hears it"] = function(T)
    local scene = scenes.open(T, {})
    ask_to_run(scene, "touch made")
    scene.child:keys("<Esc>")
    local result = scene.model:answer("Well."):result("c1")
    T.eq(result, "Denied by the person. Nothing was done; do not try it again unasked.")
    T.has(scene:reads("Well."), "Run touch made · failed")
    scene:rests()
    T.ok(not vim.uv.fs_stat(scene:path("made")), "the file was not made")
  end,

  ["a command is moved to the background by a key, and the turn goes on while it runs"] = function(
    T
  )
    local scene = scenes.open(T, {})
    ask_to_run(scene, "echo begun; while ! [ -e go ]; do sleep 0.02; done")
    scene.child:keys("1")
    scene:reads("│ begun")
    scene.child:cmd("Undine")
    scene.child:keys("<C-b>")
    local result = scene.model:answer("I go on."):result("c1")
    T.has(result, "bg-")
    scene:reads("I go on.")
    local file = assert(io.open(scene:path("go"), "w"))
    file:close()
    scene.child:see("it goes on in the background")
  end,

  ["the prompt completes the commands that the server names"] = function(T)
    local scene = scenes.open(T, {})
    scene:open_chat()
    scene.child:wait(function()
      return #require("undine.state").shown().commands > 0
    end)
    scene.child:keys("i/checkpoint<Tab>")
    T.has(scene.child:screen(), "/checkpoints")
    scene.child:keys("<Esc>")
  end,

  ["stopping a turn ends the command that runs in it"] = function(T)
    local scene = scenes.open(T, {})
    ask_to_run(scene, "echo $$ > pid; sleep 300 & sleep 300")
    scene.child:keys("1")
    local pid = T.wait(function()
      local file = io.open(scene:path("pid"), "r")
      local text = file and file:read("*n")
      return text
    end, "the start of the command")
    scene.child:cmd("UndineStop")
    T.wait(function()
      return not vim.uv.fs_stat("/proc/" .. pid)
    end, "the end of the command")
    scene:reads("Stopped.")
    scene:rests()
    scene:prompt("And now?")
    T.has(
      scene.model:answer("It was cancelled."):result("c1"),
      "Cancelled by the person while it ran"
    )
    scene:rests()
  end,
}
