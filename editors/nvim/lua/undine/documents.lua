--- Edits and saves which the server asks for in open buffers.
local M = {}

--- The loaded buffer of a document, also when it was opened through a link; never made by asking.
---@param uri string
---@return integer? buf
local function loaded(uri)
  local name = vim.uri_to_fname(uri)
  local real = vim.uv.fs_realpath(name)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buf)
    local it = vim.api.nvim_buf_get_name(buf)
    return vim.api.nvim_buf_is_loaded(buf)
      and it ~= ""
      and (it == name or (real ~= nil and vim.uv.fs_realpath(it) == real))
  end)
end

--- Closes the undo step of a buffer, so that undoing the edit takes back the edit alone: Neovim puts changes into one
--- step while no key is typed between them.
---
--- Not while a person inserts text there: the step cannot be closed beneath the inserted text without losing it.
---@param buf integer
local function close_undo_step(buf)
  local is_inserting = buf == vim.api.nvim_get_current_buf() and vim.startswith(vim.fn.mode(), "i")
  if not is_inserting then
    vim.bo[buf].undolevels = vim.bo[buf].undolevels
  end
end

--- Answers `workspace/applyEdit`. Neovim's own handler says `applied: true` of an edit it has skipped for its
--- version; this one compares the versions first and says so.
---@param params lsp.ApplyWorkspaceEditParams
---@param client_id integer
---@return lsp.ApplyWorkspaceEditResult
function M.apply(params, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return { applied = false, failureReason = "the client has ended" }
  end

  local touched = {} ---@type integer[]
  for _, change in ipairs(params.edit.documentChanges or {}) do
    local document = change.textDocument
    local buf = document and loaded(document.uri)
    if buf then
      local version = vim.lsp.util.buf_versions[buf]
      if document.version and document.version ~= vim.NIL and document.version ~= version then
        return {
          applied = false,
          failureReason = ("%s is at version %d, the edit is for %d"):format(
            document.uri,
            version,
            document.version
          ),
        }
      end
      table.insert(touched, buf)
    end
  end
  for uri in pairs(params.edit.changes or {}) do
    table.insert(touched, loaded(uri))
  end

  vim.iter(touched):each(close_undo_step)
  local ok, problem = pcall(vim.lsp.util.apply_workspace_edit, params.edit, client.offset_encoding)
  return { applied = ok, failureReason = not ok and tostring(problem) or nil }
end

--- Answers `undine/document/save`: `saved` tells whether the disk now has the buffer's text.
---@param params { uri: string }
---@return { saved: boolean }
function M.save(params)
  local buf = loaded(params.uri)
  if not buf then
    return { saved = false }
  end
  local ok, problem = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd("silent update")
  end)
  if not ok then
    local line = tostring(problem):match("^[^\n]*")
    local reason = line:match("Vim%(%a+%):(.*)") or line
    local text = ("Undine: %s could not be saved: %s"):format(vim.fn.bufname(buf), reason)
    vim.notify(text, vim.log.levels.WARN)
  end
  return { saved = ok and not vim.bo[buf].modified }
end

return M
