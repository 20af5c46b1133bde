--- Processes as /proc tells them.
local M = {}

---@class Process
---@field pid integer
---@field parent integer
---@field started string a number of the kernel's; with it a pid that is used again is told apart
---@field name string

---@return Process? process nil when there is none, or only its entry waits to be collected
local function look(pid)
  local file = io.open(("/proc/%d/stat"):format(pid), "r")
  local text = file and file:read("*a")
  if file then
    file:close()
  end
  -- The name stands in brackets and may hold anything.
  local name, rest = (text or ""):match("^%d+ %((.*)%) (.*)$")
  if not name then
    return nil
  end
  local fields = vim.split(rest, " ")
  if fields[1] == "Z" or fields[1] == "X" then
    return nil
  end
  return { pid = pid, parent = tonumber(fields[2]), started = fields[20], name = name }
end

--- This process and all that it has started, directly or not.
---@return Process[]
function M.tree(pid)
  local all = {}
  for entry in vim.fs.dir("/proc") do
    local it = tonumber(entry) and look(tonumber(entry))
    if it then
      table.insert(all, it)
    end
  end
  local tree, is_in, n_before = {}, {}, -1
  while #tree > n_before do
    n_before = #tree
    for _, it in ipairs(all) do
      if not is_in[it.pid] and (it.pid == pid or is_in[it.parent]) then
        is_in[it.pid] = true
        table.insert(tree, it)
      end
    end
  end
  return tree
end

--- Those of these processes that still run.
---@param processes Process[]
---@return Process[]
function M.alive(processes)
  return vim.tbl_filter(function(it)
    local now = look(it.pid)
    return now ~= nil and now.started == it.started
  end, processes)
end

return M
