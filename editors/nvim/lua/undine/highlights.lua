--- Our highlight groups, as links that a colour scheme may replace.
local M = {}

local links = {
  UndineAdd = "DiffAdd",
  UndineDelete = "DiffDelete",
  UndineHint = "Comment",
  UndineUser = "Title",
  UndineCall = "Identifier",
  UndineDim = "Comment",
  UndineError = "DiagnosticError",
  UndineAsk = "DiagnosticWarn",
  UndineMixed = "DiffChange",
  UndineSignAdded = "Added",
  UndineSignChanged = "Changed",
  UndineSignRemoved = "Removed",
  UndineSignMixed = "DiagnosticSignWarn",
}

function M.define()
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

return M
