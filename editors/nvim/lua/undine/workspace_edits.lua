--- Answers `workspace/applyEdit`: everything is looked at before anything is done, and nothing is said to be done that
--- was not.
---
--- Neovim's own handler says `applied: true` of an edit that it has skipped for its version, does not create a file
--- that is to be created unless it exists, empties one that exists, and deletes a buffer with unsaved work.
local documents_of = require("undine.documents")

local M = {}

---@alias undine.EditPart lsp.TextDocumentEdit|lsp.CreateFile|lsp.RenameFile|lsp.DeleteFile

---@param edit lsp.WorkspaceEdit
---@return undine.EditPart[] parts in the order in which they are made
local function parts_of(edit)
  local parts = vim.list_slice(edit.documentChanges or {})
  if not edit.documentChanges then
    for uri, edits in pairs(edit.changes or {}) do
      table.insert(parts, { textDocument = { uri = uri }, edits = edits })
    end
  end
  return parts
end

---@param uri string
local function shown(uri)
  return vim.fn.fnamemodify(vim.uri_to_fname(uri), ":~:.")
end

---@param path string
local function exists(path)
  return vim.uv.fs_lstat(path) ~= nil
end

--- Why text edits must not be made in a buffer.
---@param buf integer
---@param document lsp.OptionalVersionedTextDocumentIdentifier
---@return string?
local function text_refusal(buf, document)
  local version, wanted = vim.lsp.util.buf_versions[buf], document.version
  if type(wanted) == "number" and wanted ~= version then
    return ("%s is at version %d, the edit is for %d"):format(document.uri, version, wanted)
  end
  if not vim.bo[buf].modifiable then
    return "the buffer is not modifiable"
  end
  if vim.bo[buf].fileformat ~= "mac" then
    return require("undine.edits").problem(vim.api.nvim_buf_get_lines(buf, 0, -1, true))
  end
end

--- Why a file must not be moved or removed.
---@param uri string
---@return string?
local function unsaved(uri)
  local buf = documents_of.loaded(uri)
  return buf and vim.bo[buf].modified and ("%s has unsaved work"):format(shown(uri)) or nil
end

--- Why this part cannot be made, as long as nothing is done yet. `is_there` holds what parts before it change.
---@param part undine.EditPart
---@param is_there table<string, boolean> by path
---@return string?
local function refusal(part, is_there)
  local function is_file(uri)
    local known = is_there[vim.uri_to_fname(uri)]
    if known ~= nil then
      return known
    end
    return exists(vim.uri_to_fname(uri))
  end
  local options = part.options or {}
  if part.textDocument then
    local buf = documents_of.loaded(part.textDocument.uri)
    if buf then
      return text_refusal(buf, part.textDocument)
    elseif type(part.textDocument.version) == "number" then
      return ("%s is not open"):format(shown(part.textDocument.uri))
    end
  elseif part.kind == "create" then
    if is_file(part.uri) and not options.overwrite and not options.ignoreIfExists then
      return ("%s exists already"):format(shown(part.uri))
    end
    is_there[vim.uri_to_fname(part.uri)] = true
  elseif part.kind == "delete" then
    if not is_file(part.uri) and not options.ignoreIfNotExists then
      return ("%s does not exist"):format(shown(part.uri))
    end
    is_there[vim.uri_to_fname(part.uri)] = false
    return unsaved(part.uri)
  elseif part.kind == "rename" then
    if not is_file(part.oldUri) then
      return ("%s does not exist"):format(shown(part.oldUri))
    elseif is_file(part.newUri) and not options.overwrite then
      return ("%s exists already"):format(shown(part.newUri))
    end
    is_there[vim.uri_to_fname(part.oldUri)] = false
    is_there[vim.uri_to_fname(part.newUri)] = true
    return unsaved(part.oldUri) or unsaved(part.newUri)
  else
    return ("there is no kind of change `%s`"):format(tostring(part.kind))
  end
end

---@param part lsp.TextDocumentEdit
---@param encoding string
local function make_text(part, encoding)
  local buf = documents_of.loaded(part.textDocument.uri)
  if not buf then
    buf = vim.uri_to_bufnr(part.textDocument.uri)
    vim.fn.bufload(buf)
    vim.bo[buf].buflisted = true
    -- An empty file has no line end; Neovim would write one for its only line.
    if vim.deep_equal(vim.api.nvim_buf_get_lines(buf, 0, -1, false), { "" }) then
      vim.bo[buf].endofline = false
    end
  end
  local has_break = require("undine.edits").put(buf, part.edits, encoding)
  if vim.bo[buf].endofline ~= has_break then
    vim.bo[buf].endofline = has_break
    documents_of.send_whole(buf)
  end
end

---@param part lsp.CreateFile
local function create(part)
  local path, options = vim.uri_to_fname(part.uri), part.options or {}
  if exists(path) and not options.overwrite then
    return
  end
  vim.fn.mkdir(vim.fs.dirname(path), "p")
  local file, problem = io.open(path, "w")
  assert(file, problem):close()
end

--- The buffer goes too; windows that show it do not.
---@param part lsp.DeleteFile
local function delete(part)
  local path, buf = vim.uri_to_fname(part.uri), documents_of.loaded(part.uri)
  if exists(path) then
    vim.fs.rm(path, { recursive = (part.options or {}).recursive })
  end
  if buf then
    require("undine.windows").wipe(buf)
  end
end

--- As Neovim does it, which keeps buffers and undo files in step; then it is looked at what became of it.
---@param part lsp.RenameFile
local function rename(part)
  local from, to = vim.uri_to_fname(part.oldUri), vim.uri_to_fname(part.newUri)
  vim.lsp.util.rename(from, to, part.options)
  if exists(from) or not exists(to) then
    error(("%s could not be moved"):format(shown(part.oldUri)), 0)
  end
end

local make = { create = create, delete = delete, rename = rename }

--- Answers `workspace/applyEdit`. Where a part fails although nothing spoke against it, `failedChange` names it.
---@param params lsp.ApplyWorkspaceEditParams
---@param client_id integer
---@return lsp.ApplyWorkspaceEditResult
function M.apply(params, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return { applied = false, failureReason = "the client has ended" }
  end

  local parts, is_there = parts_of(params.edit), {}
  for at, part in ipairs(parts) do
    local reason = refusal(part, is_there)
    if reason then
      return { applied = false, failureReason = reason, failedChange = at - 1 }
    end
  end

  local closed = {}
  for _, part in ipairs(parts) do
    local buf = part.textDocument and documents_of.loaded(part.textDocument.uri)
    if buf and not closed[buf] then
      closed[buf] = true
      documents_of.close_undo_step(buf)
    end
  end
  for at, part in ipairs(parts) do
    local ok, problem = pcall(make[part.kind] or make_text, part, client.offset_encoding)
    if not ok then
      return { applied = false, failureReason = tostring(problem), failedChange = at - 1 }
    end
  end
  return { applied = true }
end

return M
