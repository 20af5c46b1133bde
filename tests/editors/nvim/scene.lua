--- A person at work with the real program: a project, a Neovim, a scripted model.
local models = require("model")

local M = {}
local methods = {}

--- Lets the person write this to the agent.
function methods.prompt(scene, text)
  scene.child:run(function(it)
    vim.cmd.Undine(it)
  end, text)
end

--- The chat's transcript.
function methods.chat(scene)
  return scene.child:run(function()
    local view = require("undine.state").view
    return view and table.concat(vim.api.nvim_buf_get_lines(view.transcript, 0, -1, false), "\n")
      or ""
  end)
end

--- Waits until the transcript holds this, and returns it.
function methods.reads(scene, part)
  return scene.T.wait(function()
    if vim.rpcrequest(scene.child.channel, "nvim_get_mode").blocking then
      return false
    end
    local chat = scene:chat()
    return chat:find(part, 1, true) and chat
  end, function()
    return ("%q in the chat:\n%s"):format(part, scene.child:screen())
  end)
end

--- Waits until a question about this call is presented.
function methods.asks(scene)
  scene.child:wait(function()
    local ask = require("undine.state").asks[1]
    return ask and ask.is_shown
  end)
end

--- Waits until no turn runs.
function methods.rests(scene)
  scene.child:wait(function()
    local session = require("undine.state").shown()
    return session and session.n_running == 0
  end)
end

--- Returns once the server has taken in all that Neovim has sent so far: it works in the order of arrival.
function methods.settle(scene)
  scene.child:run(function(cwd)
    local client = vim.lsp.get_clients({ name = "undine" })[1]
    assert(client:request_sync("session/list", { cwd = cwd }, 10000))
  end, scene.folder)
end

function methods.path(scene, name)
  return scene.folder .. "/" .. name
end

--- The file's bytes on disk.
function methods.disk(scene, name)
  return scene.T.read(scene:path(name))
end

--- The lines of the file's buffer.
function methods.lines(scene, name)
  return scene.child:run(function(path)
    return vim.api.nvim_buf_get_lines(vim.fn.bufnr("^" .. path .. "$"), 0, -1, false)
  end, scene:path(name))
end

--- What the file's buffer shows of its changes: `{ first row, number of lines, base text, state }` each.
function methods.hunks(scene, name)
  return scene.child:run(function(path)
    local marks, buf = require("undine.changes.marks"), vim.fn.bufnr("^" .. path .. "$")
    local drawn = require("undine.state").drawn[buf]
    return vim.tbl_map(function(it)
      local first, last = marks.place(buf, it)
      return { first, last - first, it.hunk.baseText, it.hunk.state }
    end, drawn and drawn.hunks or {})
  end, scene:path(name))
end

--- The line of the cursor in the current window.
function methods.cursor_line(scene)
  return scene.child:run(function()
    return vim.fn.line(".")
  end)
end

--- Opens the chat and waits for its session.
function methods.open_chat(scene)
  scene.child:cmd("Undine")
  scene.child:wait(function()
    return require("undine.state").shown() ~= nil
  end)
end

--- Whether the file's buffer has unsaved work.
function methods.modified(scene, name)
  return scene.child:run(function(path)
    return vim.bo[vim.fn.bufnr("^" .. path .. "$")].modified
  end, scene:path(name))
end

--- The server's process.
function methods.server(scene)
  return scene.child:run(function()
    local pids = vim.api.nvim_get_proc_children(vim.fn.getpid())
    return #pids == 1 and pids[1] or error(("there are %d children"):format(#pids))
  end)
end

--- A project with these files, by name, and a Neovim in it.
function M.open(T, files)
  local scene = setmetatable({ T = T, model = models.start(T) }, { __index = methods })
  scene.folder = T.folder(files)
  local config = [[
[default_model]
provider = "scripted"
name = "scripted-1"
[providers.scripted]
kind = "openai-compatible"
base_url = "http://127.0.0.1:%d/v1"
]]
  local own = T.folder({ ["config/config.toml"] = config:format(scene.model.port) })
  scene.child = T.real(scene.folder, {
    UNDINE_CONFIG_DIR = own .. "/config",
    UNDINE_DATA_DIR = own .. "/data",
  })
  return scene
end

return M
