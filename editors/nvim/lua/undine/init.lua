--- Undine in Neovim. Works without a call to `setup`, which only merges options.
local M = {}

---@param options? undine.Options
function M.setup(options)
  require("undine.config").setup(options)
end

--- How much waits to be reviewed, for the status line. Cheap enough for each redraw, and loads nothing.
---@return string text "3 changes", or empty when nothing does
function M.status()
  local changes = package.loaded["undine.changes"]
  local n = changes and changes.count() or 0
  return n > 0 and changes.counted(n) or ""
end

return M
