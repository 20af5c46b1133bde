--- A small test harness. A case file returns `{ ["a sentence"] = function(T) … end }`.
---
--- `T.child()` is a fresh Neovim with the plugin on its runtimepath, driven over RPC like a person at the keyboard.
--- After each case its children must have shown no error and have no message of the agent left unlooked at.
local T = {}

local root = vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))
root = vim.fn.fnamemodify(root, ":p"):gsub("/$", "")
local plugin = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(root))) .. "/editors/nvim"

--- Longest wait for anything, in milliseconds; only a failing case takes that long.
local patience = 10000

local children = {}

--- What is looked at after a case, and what is closed then.
local endings = {}

--- `check` runs when the case has passed so far, `close` whatever happened.
function T.afterwards(check, close)
  table.insert(endings, { check = check, close = close })
end

function T.eq(got, want, what)
  if not vim.deep_equal(got, want) then
    local text = "%s\n  got  %s\n  want %s"
    error(text:format(what or "not equal", vim.inspect(got), vim.inspect(want)), 2)
  end
end

function T.ok(value, what)
  if not value then
    error(what or "not true", 2)
  end
  return value
end

--- True when `text` holds `part`, read as it stands.
function T.has(text, part)
  if not text:find(part, 1, true) then
    error(("%q is not in:\n%s"):format(part, text), 2)
  end
end

function T.lacks(text, part)
  if text:find(part, 1, true) then
    error(("%q is in:\n%s"):format(part, text), 2)
  end
end

--- Waits until `test` answers something true and returns it.
function T.wait(test, what)
  local value
  local function holds()
    value = test()
    return value ~= nil and value ~= vim.NIL and value ~= false
  end
  if not vim.wait(patience, holds, 5) then
    local text = type(what) == "function" and what() or what
    error("waited in vain: " .. (text or "?"), 2)
  end
  return value
end

--- A folder of its own with these files, by name; removed when the run ends.
function T.folder(files)
  local path = vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname()))
    .. "/"
    .. vim.fs.basename(vim.fn.tempname())
  vim.fn.mkdir(path .. "/.git", "p")
  for name, text in pairs(files or {}) do
    vim.fn.mkdir(vim.fs.dirname(path .. "/" .. name), "p")
    local file = assert(io.open(path .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end
  return path
end

function T.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local child_methods = {}

--- Runs a function in the child. It may use its arguments and globals only: its code is sent, not its upvalues.
function child_methods.run(child, body, ...)
  assert(debug.getinfo(body, "u").nups == 0, "a function for the child must not have upvalues")
  local code = "return assert(loadstring((...)))(select(2, ...))"
  return vim.rpcrequest(child.channel, "nvim_exec_lua", code, { string.dump(body), ... })
end

function child_methods.cmd(child, command)
  return vim.rpcrequest(child.channel, "nvim_command", command)
end

--- Types like a person; returns once the keys were worked off.
function child_methods.keys(child, keys)
  vim.rpcrequest(child.channel, "nvim_input", keys)
  child:run(function() end)
end

--- Waits until a function of the child answers something true.
function child_methods.wait(child, body, ...)
  local args = { ... }
  return T.wait(function()
    if vim.rpcrequest(child.channel, "nvim_get_mode").blocking then
      return false
    end
    return child:run(body, unpack(args))
  end, function()
    return "in the child, which shows:\n" .. child:screen()
  end)
end

--- What is on the screen, line by line.
function child_methods.screen(child)
  return child:run(function()
    vim.cmd.redraw()
    local rows = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for column = 1, vim.o.columns do
        cells[column] = vim.fn.screenstring(row, column)
      end
      rows[row] = (table.concat(cells):gsub("%s+$", ""))
    end
    return table.concat(rows, "\n")
  end)
end

--- Waits until the screen holds this text, and returns the screen.
function child_methods.see(child, part)
  return T.wait(function()
    local screen = child:screen()
    return screen:find(part, 1, true) and screen
  end, function()
    return ("%q on the screen, which shows:\n%s"):format(part, child:screen())
  end)
end

--- Waits for a message of the client with this method, takes it off the list and returns its parameters.
function child_methods.take(child, method)
  return T.wait(function()
    return child:run(function(it)
      return fake.take(it)
    end, method)
  end, function()
    return ("a message %s; there are %s\n%s"):format(
      method,
      vim.inspect(child:run(function()
        return fake.left()
      end)),
      child:screen()
    )
  end)
end

--- Waits for the client's answer to a request of the server: its result as JSON text, keys sorted.
function child_methods.answer(child, method)
  return T.wait(function()
    return child:run(function(it)
      return fake.take_answer(it)
    end, method)
  end, function()
    return ("an answer to %s, while the screen shows:\n%s"):format(method, child:screen())
  end)
end

--- Sends a request of the server to the client.
function child_methods.ask(child, method, params)
  child:run(function(...)
    fake.ask(...)
  end, method, params)
end

--- Sends updates of the session to the client.
function child_methods.update(child, ...)
  child:run(function(...)
    fake.update(...)
  end, ...)
end

--- Opens the chat and takes the messages with which it begins.
function child_methods.open_chat(child)
  child:cmd("Undine")
  child:take("session/new")
  child:wait(function()
    local state = require("undine.state")
    return state.view.session == "s1" and vim.fn.mode() == "n"
  end)
end

--- Leaves the child as a person does, with :quitall!.
function child_methods.quit(child)
  pcall(vim.rpcnotify, child.channel, "nvim_command", "quitall!")
  vim.fn.jobwait({ child.channel }, patience)
  children = vim.tbl_filter(function(it)
    return it ~= child
  end, children)
end

--- Ends the child without a word, as the system does when memory runs out.
function child_methods.kill(child)
  vim.uv.kill(vim.fn.jobpid(child.channel), "sigkill")
  vim.fn.jobwait({ child.channel }, patience)
  children = vim.tbl_filter(function(it)
    return it ~= child
  end, children)
end

function child_methods.errors(child)
  local ok, messages =
    pcall(vim.rpcrequest, child.channel, "nvim_exec2", "messages", { output = true })
  return ok and messages.output:match("[^\n]*E%d+:[^\n]*") or nil
end

--- A fresh Neovim in this folder with the in-process server of `fake.lua`.
function T.child(folder)
  local argv = { vim.v.progpath, "--embed", "--headless", "-u", "NONE", "-i", "NONE", "-n" }
  local child = setmetatable({ folder = folder or T.folder() }, { __index = child_methods })
  -- What a child that is killed leaves behind goes away with our own folder. So do its log and its undo files, which are
  -- neither the person's nor those of an earlier run.
  local env = { TMPDIR = vim.fs.dirname(vim.fn.tempname()), XDG_STATE_HOME = vim.fn.tempname() .. "-state" }
  child.channel = vim.fn.jobstart(argv, { rpc = true, cwd = child.folder, env = env })
  table.insert(children, child)
  child:run(function(at, tests)
    vim.opt.runtimepath:prepend(at)
    package.path = tests .. "/?.lua;" .. package.path
    vim.cmd.runtime("plugin/undine.lua")
    vim.o.columns, vim.o.lines = 100, 30
    vim.g.mapleader = " "
    _G.fake = require("fake")
    require("undine").setup({ cmd = fake.cmd })
  end, plugin, root)
  return child
end

--- A fresh Neovim in this folder with the program that UNDINE_BIN names; `env` is added to the server's environment.
function T.real(folder, env)
  local child = T.child(folder)
  child:run(function(bin, variables)
    for name, value in pairs(variables) do
      vim.env[name] = value
    end
    require("undine").setup({ cmd = { bin, "lsp" } })
  end, assert(os.getenv("UNDINE_BIN"), "UNDINE_BIN is not set"), env or vim.empty_dict())
  return child
end

local function check_children()
  for _, child in ipairs(children) do
    local message = child:errors()
    if message then
      error("the child shows an error: " .. message, 0)
    end
    local left = child:run(function()
      return _G.fake and fake.left() or {}
    end)
    if #left > 0 then
      error("messages nobody looked at: " .. vim.inspect(left), 0)
    end
  end
end

local function check_endings()
  for _, it in ipairs(endings) do
    it.check()
  end
end

local function stop_endings()
  for _, it in ipairs(endings) do
    it.close()
  end
  endings = {}
end

local function stop_children()
  for _, child in ipairs(children) do
    pcall(vim.fn.jobstop, child.channel)
  end
  children = {}
end

--- Runs every case of these files, prints the sum and leaves with 0 only if all passed.
function T.run(files)
  local n_passed, n_failed = 0, 0
  for _, file in ipairs(files) do
    local cases = dofile(file)
    local names = vim.tbl_keys(cases)
    table.sort(names)
    for _, name in ipairs(names) do
      local ok, problem = xpcall(function()
        cases[name](T)
        check_children()
        check_endings()
      end, debug.traceback)
      stop_children()
      stop_endings()
      n_passed, n_failed = n_passed + (ok and 1 or 0), n_failed + (ok and 0 or 1)
      local line = ("%s %s: %s\n"):format(ok and "ok    " or "FAILED", vim.fs.basename(file), name)
      io.stdout:write(line, ok and "" or tostring(problem) .. "\n")
    end
  end
  io.stdout:write(("%d passed, %d failed\n"):format(n_passed, n_failed))
  io.stdout:flush()
  vim.fn.delete(vim.fs.dirname(vim.fn.tempname()), "rf")
  os.exit(n_failed == 0 and n_passed > 0 and 0 or 1)
end

return T
