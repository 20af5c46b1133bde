--- Ends: of Neovim, of the server, and what is left of a session.
local processes = require("processes")
local scenes = require("scene")

--- Longest time that anything of ours may outlive Neovim, in milliseconds.
local grace = 2000

--- Lets the model run a command of two sleeping processes, and returns the server's processes when both sleep.
local function run_sleepers(scene)
  scene:prompt("Run it.")
  scene.model:call("c1", "execute_command", { command = "sleep 300 & sleep 300" })
  scene:asks()
  scene.child:keys("1")
  local server = scene:server()
  return scene.T.wait(function()
    local tree = processes.tree(server)
    local sleeping = vim.tbl_filter(function(it)
      return it.name == "sleep"
    end, tree)
    return #sleeping == 2 and tree
  end, "two processes that sleep")
end

--- Waits until all of these are gone, and holds them to the grace.
local function all_end(T, tree)
  local began = vim.uv.hrtime()
  T.ok(#tree >= 4, "there are a server, a shell and two sleepers")
  T.wait(function()
    return #processes.alive(tree) == 0
  end, function()
    return "the end of " .. vim.inspect(processes.alive(tree))
  end)
  local took = (vim.uv.hrtime() - began) / 1e6
  T.ok(took < grace, ("it took %d ms"):format(took))
end

local function messages(child)
  return vim.rpcrequest(child.channel, "nvim_exec2", "messages", { output = true }).output
end

--- Starts the server anew and loads the only session there was, as a person does.
local function load_again(scene)
  scene.child:run(function()
    vim.ui.select = function(items, _, done)
      assert(#items == 1, "there is one earlier session")
      done(items[1])
    end
  end)
  scene.child:cmd("UndineSessions")
  scene.child:wait(function()
    local session = require("undine.state").shown()
    return session and vim.lsp.get_client_by_id(session.client_id) and #session.modes > 0
  end)
end

return {
  ["kill -9 of Neovim while a command runs leaves no process"] = function(T)
    local scene = scenes.open(T, {})
    local tree = run_sleepers(scene)
    scene.child:kill()
    all_end(T, tree)
  end,

  [":qa! while a command runs leaves no process"] = function(T)
    local scene = scenes.open(T, {})
    local tree = run_sleepers(scene)
    local began = vim.uv.hrtime()
    scene.child:quit()
    local took = (vim.uv.hrtime() - began) / 1e6
    T.ok(took < grace, ("leaving took %d ms"):format(took))
    all_end(T, tree)
  end,

  [":qa! while the model talks leaves no process"] = function(T)
    local scene = scenes.open(T, {})
    scene:prompt("Talk for ever.")
    scene.model:next():say("It begins")
    scene:reads("It begins")
    local tree = processes.tree(scene:server())
    local began = vim.uv.hrtime()
    scene.child:quit()
    T.wait(function()
      return #processes.alive(tree) == 0
    end, "the end of the server")
    local took = (vim.uv.hrtime() - began) / 1e6
    T.ok(took < grace, ("it took %d ms"):format(took))
  end,

  ["kill -9 of the server while a command runs: one message, and the session goes on after a restart"] = function(
    T
  )
    local scene = scenes.open(T, { ["a.txt"] = "one\n" })
    scene.child:cmd("edit a.txt")
    scene:prompt("Hello.")
    scene.model:answer("Hello to you.")
    scene:reads("Hello to you.")
    scene:rests()
    local tree = run_sleepers(scene)

    vim.uv.kill(tree[1].pid, "sigkill")
    all_end(T, tree)
    T.has(scene:reads("the server ended (signal 9)"), "Hello to you.")
    scene:rests()
    local said = vim.tbl_filter(function(line)
      return line:find("ended", 1, true) or line:find("quit with", 1, true)
    end, vim.split(messages(scene.child), "\n"))
    T.eq(#said, 1, vim.inspect(said))

    scene.child:cmd("wincmd h")
    scene.child:keys("Gomine<Esc>")
    T.eq(scene:lines("a.txt"), { "one", "mine" }, "Neovim goes on")

    load_again(scene)
    local chat = scene:reads("the server stopped while this ran")
    T.has(chat, "Hello.")
    T.has(chat, "Hello to you.")
    T.has(chat, "Run it.")
    scene:prompt("Go on.")
    local request = scene.model:answer("Gladly.")
    T.has(request:result("c1"), "the server stopped while this ran")
    T.eq(request.body.messages[#request.body.messages], { role = "user", content = "Go on." })
    scene:reads("Gladly.")
    scene:rests()
  end,

  ["kill -9 of the server while it talks: the session can be loaded and go on"] = function(T)
    local scene = scenes.open(T, {})
    scene:prompt("Tell a story.")
    scene.model:next():say("Once upon a time")
    scene:reads("Once upon a time")
    vim.uv.kill(scene:server(), "sigkill")
    scene:reads("the server ended (signal 9)")
    scene:rests()
    load_again(scene)
    scene:reads("Tell a story.")
    scene:prompt("Go on.")
    local request = scene.model:answer("There was a king.")
    T.eq(request.body.messages[2], { role = "user", content = "Tell a story.\n\nGo on." })
    scene:reads("There was a king.")
    scene:rests()
  end,

  ["kill -9 of the server while a question waits takes the question away"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\n" })
    scene.child:cmd("edit a.txt")
    scene:prompt("Edit.")
    scene.model:call("e1", "edit_file", {
      path = "a.txt",
      target_content = "one",
      replacement_content = "two",
    })
    scene:asks()
    vim.uv.kill(scene:server(), "sigkill")
    scene:reads("the server ended (signal 9)")
    T.eq(
      scene.child:run(function()
        local state = require("undine.state")
        local marks = vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), state.ns, 0, -1, {})
        return { #state.asks, #marks }
      end),
      { 0, 0 }
    )
    load_again(scene)
    scene:prompt("Go on.")
    T.has(scene.model:answer("Yes."):result("e1"), "Unknown: the server stopped while this ran")
    scene:rests()
    T.eq(scene:disk("a.txt"), "one\n")
  end,

  ["a prompt sent right after loading a session goes to that session"] = function(T)
    local scene = scenes.open(T, {})
    scene:prompt("Hello.")
    scene.model:answer("Hello to you.")
    scene:rests()
    vim.uv.kill(scene:server(), "sigkill")
    scene:reads("the server ended (signal 9)")
    scene.child:run(function()
      vim.ui.select = function(items, _, done)
        done(items[1])
        vim.cmd.Undine("At once.")
      end
    end)
    scene.child:cmd("UndineSessions")
    local request = scene.model:answer("Yes.")
    T.eq(
      vim.tbl_map(function(it)
        return it.content
      end, vim.list_slice(request.body.messages, 2)),
      { "Hello.", "Hello to you.", "At once." }
    )
    local text = scene:reads("Yes."):gsub("\n\n[%d.]+ s, %d+ tokens", "")
    T.eq(text, "## You\n\nHello.\n\nHello to you.\n\n## You\n\nAt once.\n\nYes.")
    scene:rests()
  end,
}
