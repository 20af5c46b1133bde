--- `:checkhealth undine`.
local M = {}

---@param cmd string[]
local function check_version(cmd)
  local ok, result = pcall(function()
    return vim.system({ cmd[1], "--version" }, { text = true, timeout = 3000 }):wait()
  end)
  if ok and result.code == 0 then
    vim.health.ok(("`%s --version`: %s"):format(cmd[1], vim.trim(result.stdout)))
  else
    vim.health.warn(
      ("`%s --version` gave no answer"):format(cmd[1]),
      "Run it in a shell to see why."
    )
  end
end

function M.check()
  local client_of = require("undine.client")
  local config = require("undine.config")
  local state = require("undine.state")

  vim.health.start("Undine: Neovim")
  if vim.fn.has("nvim-0.11") == 1 then
    vim.health.ok(("Neovim %s"):format(tostring(vim.version())))
  else
    vim.health.error("Neovim is too old", "Install 0.11 or newer.")
  end

  vim.health.start("Undine: keys for changes to review")
  local taken = require("undine.changes.keys").taken()
  for _, it in ipairs(taken) do
    vim.health.info(
      ("%s has a mapping of yours, which stays; `keys.%s` names another key"):format(
        it.key,
        it.option
      )
    )
  end
  if #taken == 0 then
    vim.health.ok("none of them has another mapping")
  end

  vim.health.start("Undine: server")
  local cmd = config.get().cmd
  local missing = client_of.missing(cmd)
  if missing then
    vim.health.error(missing)
  elseif type(cmd) == "table" then
    check_version(cmd)
  else
    vim.health.info("`cmd` is a function")
  end

  vim.health.start("Undine: running")
  if vim.tbl_isempty(state.clients) then
    vim.health.info("no server runs; :Undine starts one")
  end
  for id in pairs(state.clients) do
    local client = vim.lsp.get_client_by_id(id)
    if client then
      local agent = vim.tbl_get(client.server_capabilities or {}, "experimental", "agent")
      local n_files = vim.tbl_count(client.attached_buffers)
      vim.health.ok(("%s: %d files attached"):format(client.root_dir or "no root", n_files))
      local changes = require("undine.changes")
      local n = changes.count()
      if n > 0 then
        vim.health.info(("%s to review; :UndineReview lists them"):format(changes.counted(n)))
      end
      if not agent then
        vim.health.error("this server has no agent methods", "Check the option `cmd`.")
      end
    end
  end
end

return M
