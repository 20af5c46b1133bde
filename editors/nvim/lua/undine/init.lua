--- Undine in Neovim. Works without a call to `setup`, which only merges options.
local M = {}

---@param options? undine.Options
function M.setup(options)
  require("undine.config").setup(options)
end

return M
