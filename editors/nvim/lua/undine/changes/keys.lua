--- Keys in a buffer while it has changes. A mapping of the person's own, of the buffer or of all, is never covered.
local config = require("undine.config")

local M = {}

---@class undine.Key
---@field option string the option below `keys`
---@field desc string
---@field run fun()

---@param name string
---@param ... any
---@return fun()
local function action(name, ...)
  local args = { ... }
  return function()
    require("undine.changes.actions")[name](unpack(args))
  end
end

---@type undine.Key[]
M.all = {
  { option = "next_change", desc = "next change", run = action("jump", 1) },
  { option = "prev_change", desc = "previous change", run = action("jump", -1) },
  { option = "next_file", desc = "next file with changes", run = action("jump_file", 1) },
  { option = "prev_file", desc = "previous file with changes", run = action("jump_file", -1) },
  { option = "keep_hunk", desc = "keep this change", run = action("judge", "keep", "hunk") },
  { option = "revert_hunk", desc = "revert this change", run = action("judge", "revert", "hunk") },
  { option = "keep_file", desc = "keep the file's changes", run = action("judge", "keep", "file") },
  {
    option = "revert_file",
    desc = "revert the file's changes",
    run = action("judge", "revert", "file"),
  },
}

--- Sets the keys and returns how to take back those that were free.
---@param buf integer
---@return (fun())[] undo
function M.set(buf)
  local keys, undo = config.get().keys, {}
  local function mapped(key)
    return vim.api.nvim_buf_call(buf, function()
      return vim.fn.maparg(key, "n", false, true)
    end)
  end
  for _, it in ipairs(M.all) do
    local key = keys[it.option]
    if key and vim.tbl_isempty(mapped(key)) then
      vim.keymap.set("n", key, it.run, { buffer = buf, desc = "Undine: " .. it.desc })
      table.insert(undo, function()
        -- The person may have put a mapping of their own there meanwhile.
        local is_ours = vim.api.nvim_buf_is_loaded(buf) and mapped(key).callback == it.run
        if is_ours then
          vim.keymap.del("n", key, { buffer = buf })
        end
      end)
    end
  end
  return undo
end

--- The keys that a mapping of the person's for all buffers has.
---@return { option: string, key: string }[]
function M.taken()
  local keys, taken = config.get().keys, {}
  for _, it in ipairs(M.all) do
    local key = keys[it.option]
    local map = key and vim.fn.maparg(key, "n", false, true) or {}
    if next(map) and map.buffer == 0 then
      table.insert(taken, { option = it.option, key = key })
    end
  end
  return taken
end

return M
