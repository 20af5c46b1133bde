--- The names of a project's files, listed in the background: nobody waits for a big tree.
local state = require("undine.state")

local M = {}

--- The most names of a project that are kept, folders included.
local most = 20000

--- How long a list serves before it is made anew, and how long git may take, in milliseconds.
local fresh, patience = 5000, 10000

---@class undine.FileNames
---@field names string[] below the root; a folder's name ends in "/"
---@field is_listing boolean whether a newer list is being made
---@field listed_at? number when the list was whole, by `vim.uv.now()`

--- Folders of a tree without git that hold no work of a person's.
local passed_over = { node_modules = true, target = true, __pycache__ = true }

--- Gathers names, each once and with the folders that it lies in.
---@param names string[]
---@return fun(name: string): boolean add false once there is no room for more
local function collector(names)
  local seen = {}
  local function put(name)
    if not seen[name] and #names < most then
      seen[name] = true
      table.insert(names, name)
    end
  end
  return function(name)
    -- A line break cannot stand in a mention.
    if not name:find("%c") then
      for slash in name:gmatch("()/") do
        put(name:sub(1, slash))
      end
      put(name)
    end
    return #names < most
  end
end

--- Adds what git names with these arguments, as it comes.
---@param root string
---@param args string[]
---@param add fun(name: string): boolean
---@param done fun()
local function ask_git(root, args, add, done)
  -- A project's own settings must not start a program here.
  local cmd = { "git", "-c", "core.fsmonitor=false", "ls-files", "-z" }
  local rest, has_room, process = "", true, nil
  local function take(_, data)
    if not has_room then
      return
    end
    rest = rest .. (data or "")
    local from = 1
    for name, after in rest:gmatch("([^%z]*)%z()") do
      from, has_room = after, add(name)
      if not has_room then
        process:kill("sigterm")
        return
      end
    end
    rest = rest:sub(from)
  end
  local options = { cwd = root, stdout = take, stderr = false, timeout = patience }
  local ok, started = pcall(vim.system, vim.list_extend(cmd, args), options, done)
  if ok then
    process = started
  else
    -- There is no git here, or no such folder.
    done()
  end
end

--- Goes through the folders, those nearest to the root first. Links and hidden folders are not followed.
---@param root string
---@param add fun(name: string): boolean
---@param done fun()
local function walk(root, add, done)
  local folders, at = { "" }, 0
  local function go_on()
    at = at + 1
    local folder = folders[at]
    if not folder then
      done()
      return
    end
    vim.uv.fs_scandir(root .. "/" .. folder, function(_, entries)
      local has_room = true
      while entries and has_room do
        local name, kind = vim.uv.fs_scandir_next(entries)
        if not name then
          break
        end
        if kind ~= "directory" then
          has_room = add(folder .. name)
        elseif name:sub(1, 1) ~= "." and not passed_over[name] then
          has_room = add(folder .. name .. "/")
          table.insert(folders, folder .. name .. "/")
        end
      end
      if has_room then
        go_on()
      else
        done()
      end
    end)
  end
  go_on()
end

---@param root string
---@param entry undine.FileNames
local function list(root, entry)
  entry.is_listing = true
  local names = {}
  local add = collector(names)
  if not entry.listed_at then
    -- What has come so far serves until there is more.
    entry.names = names
  end
  local function done()
    entry.names, entry.is_listing, entry.listed_at = names, false, vim.uv.now()
  end
  local n_open = 2
  local function git_done()
    n_open = n_open - 1
    if n_open == 0 and #names == 0 then
      walk(root, add, done)
    elseif n_open == 0 then
      done()
    end
  end
  -- What git follows it knows without a look at the tree, so that comes early.
  ask_git(root, { "--cached" }, add, git_done)
  ask_git(root, { "--others", "--exclude-standard" }, add, git_done)
end

--- The names that are known now. Where none are yet, waits for the first list, at most so long.
---@param root string
---@param wait_ms integer
---@return string[]
function M.of(root, wait_ms)
  local entry = state.file_names[root]
  local is_first = entry == nil
  if not entry then
    entry = { names = {}, is_listing = false }
    state.file_names[root] = entry
  end
  if not entry.is_listing and vim.uv.now() - (entry.listed_at or -fresh) >= fresh then
    list(root, entry)
  end
  if is_first then
    -- Only what reads the names runs meanwhile: a completion must not change a text, and an update would.
    vim.wait(wait_ms, function()
      return not entry.is_listing
    end, 5, true)
  end
  return entry.names
end

return M
