--- Edits and saves which the server asks for in open buffers.
local state = require("undine.state")

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

--- Whether the text ends with a line break after these edits. Neovim keeps that break in the option 'endofline' and not
--- in a line, so that its own code for edits never adds or takes one away.
---@param buf integer
---@param edits lsp.TextEdit[]
---@param encoding string
---@return boolean
local function ends_with_break(buf, edits, encoding)
  local has_break = vim.bo[buf].endofline
  local n_lines = vim.api.nvim_buf_line_count(buf)
  local last = vim.api.nvim_buf_get_lines(buf, -2, -1, true)[1]
  local row = has_break and n_lines or n_lines - 1
  local column = has_break and 0 or vim.str_utfindex(last, encoding)
  for _, edit in ipairs(edits) do
    local from, to = edit.range.start, edit.range["end"]
    if to.line > row or (to.line == row and to.character >= column) then
      if edit.newText ~= "" then
        return edit.newText:sub(-1) == "\n"
      end
      return from.character == 0 and from.line > 0
    end
  end
  return has_break
end

--- Gives the server the buffer's whole text again: a changed 'endofline' is no change of a line, so that Neovim would
--- not tell it.
---@param buf integer
local function send_whole(buf)
  for id in pairs(state.clients) do
    if vim.lsp.buf_is_attached(buf, id) then
      vim.lsp.buf_detach_client(buf, id)
      vim.lsp.buf_attach_client(buf, id)
    end
  end
end

---@param buf integer
---@param has_break boolean
local function set_break(buf, has_break)
  if vim.bo[buf].endofline == has_break then
    return
  end
  local last = vim.api.nvim_buf_get_lines(buf, -2, -1, true)[1]
  if has_break and last == "" and vim.api.nvim_buf_line_count(buf) > 1 then
    -- The break came in as an empty last line.
    vim.api.nvim_buf_set_lines(buf, -2, -1, true, {})
  end
  vim.bo[buf].endofline = has_break
  send_whole(buf)
end

--- After a write of the person's: with 'fixendofline' the file has a final line break now, and so has the buffer.
---@param buf integer
function M.written(buf)
  local bo = vim.bo[buf]
  if bo.fixendofline and not bo.binary and not bo.endofline then
    bo.endofline = true
    send_whole(buf)
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
  local breaks = {} ---@type table<integer, boolean>
  ---@param buf integer
  ---@param edits lsp.TextEdit[]
  local function touch(buf, edits)
    table.insert(touched, buf)
    breaks[buf] = ends_with_break(buf, edits, client.offset_encoding)
  end
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
      touch(buf, change.edits)
    end
  end
  for uri, edits in pairs(params.edit.changes or {}) do
    local buf = loaded(uri)
    if buf then
      touch(buf, edits)
    end
  end

  vim.iter(touched):each(close_undo_step)
  local ok, problem = pcall(vim.lsp.util.apply_workspace_edit, params.edit, client.offset_encoding)
  if ok then
    for buf, has_break in pairs(breaks) do
      set_break(buf, has_break)
    end
  end
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
  -- The agent's edit must not bring a line break at the end of the file with it.
  local fixes_end = vim.bo[buf].fixendofline
  vim.bo[buf].fixendofline = false
  local ok, problem = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd("silent update")
  end)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.bo[buf].fixendofline = fixes_end
  end
  if not ok then
    local line = tostring(problem):match("^[^\n]*")
    local reason = line:match("Vim%(%a+%):(.*)") or line
    local text = ("Undine: %s could not be saved: %s"):format(vim.fn.bufname(buf), reason)
    vim.notify(text, vim.log.levels.WARN)
  end
  return { saved = ok and not vim.bo[buf].modified }
end

return M
