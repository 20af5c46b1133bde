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

local line_ends = { unix = "\n", dos = "\r\n", mac = "\r" }

--- The buffer as the server has it.
---@param buf integer
---@return string
local function whole_text(buf)
  local line_end = line_ends[vim.bo[buf].fileformat]
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), line_end)
  return vim.bo[buf].endofline and text .. line_end or text
end

---@param buf integer
---@param text string
local function mark_if_whole(buf, text)
  if not state.whole[buf] and text:find("\r", 1, true) then
    state.whole[buf] = true
    state.on_wipeout(buf, function()
      state.whole[buf] = nil
    end)
  end
end

--- Looks at a buffer that is about to be attached.
---@param buf integer
function M.attaching(buf)
  mark_if_whole(buf, table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\n"))
end

--- Sends whole texts where places would be misread: to the server a carriage return ends a line, to Neovim it is a
--- character like others.
---@param client vim.lsp.Client
function M.watch_changes(client)
  local notify = client.notify
  client.notify = function(...)
    -- Plugins of Neovim 0.10 call it without the client.
    local method, params = select((...) == client and 2 or 1, ...)
    if method == "textDocument/didChange" then
      local buf = vim.uri_to_bufnr(params.textDocument.uri)
      local line_end = line_ends[vim.bo[buf].fileformat]
      for _, change in ipairs(params.contentChanges) do
        mark_if_whole(buf, (change.text:gsub(line_end, "\n")))
      end
      if state.whole[buf] then
        params.contentChanges = { { text = whole_text(buf) } }
      end
    end
    return notify(client, method, params)
  end
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

---@param edit lsp.WorkspaceEdit
---@return { uri: string, version?: integer, edits: lsp.TextEdit[] }[]? documents nil when it is more than text edits
local function documents_of(edit)
  local documents = {}
  for _, change in ipairs(edit.documentChanges or {}) do
    if not change.textDocument then
      return nil
    end
    local version = change.textDocument.version
    table.insert(documents, {
      uri = change.textDocument.uri,
      version = version ~= vim.NIL and version or nil,
      edits = change.edits,
    })
  end
  for uri, edits in pairs(edit.changes or {}) do
    table.insert(documents, { uri = uri, edits = edits })
  end
  return documents
end

--- Why an edit must not be made in this buffer.
---@param buf integer
---@param document { uri: string, version?: integer }
---@return string?
local function refusal(buf, document)
  local version = vim.lsp.util.buf_versions[buf]
  if document.version and document.version ~= version then
    return ("%s is at version %d, the edit is for %d"):format(
      document.uri,
      version,
      document.version
    )
  end
  if not vim.bo[buf].modifiable then
    return "the buffer is not modifiable"
  end
  if vim.bo[buf].fileformat ~= "mac" then
    return require("undine.edits").problem(vim.api.nvim_buf_get_lines(buf, 0, -1, true))
  end
end

--- Answers `workspace/applyEdit`. Neovim's own handler says `applied: true` of an edit it has skipped for its
--- version; this one compares the versions first and says so. All or nothing.
---@param params lsp.ApplyWorkspaceEditParams
---@param client_id integer
---@return lsp.ApplyWorkspaceEditResult
function M.apply(params, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return { applied = false, failureReason = "the client has ended" }
  end

  local documents = documents_of(params.edit)
  local bufs = {} ---@type integer[]
  for at, document in ipairs(documents or {}) do
    local buf = loaded(document.uri)
    local reason = buf and refusal(buf, document)
    if reason then
      return { applied = false, failureReason = reason }
    end
    bufs[at] = buf
  end

  vim.iter(pairs(bufs)):each(function(_, buf)
    close_undo_step(buf)
  end)
  local ok, problem = pcall(function()
    if not documents or vim.tbl_count(bufs) < #documents then
      vim.lsp.util.apply_workspace_edit(params.edit, client.offset_encoding)
      return
    end
    for at, document in ipairs(documents) do
      local has_break =
        require("undine.edits").put(bufs[at], document.edits, client.offset_encoding)
      if vim.bo[bufs[at]].endofline ~= has_break then
        vim.bo[bufs[at]].endofline = has_break
        send_whole(bufs[at])
      end
    end
  end)
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
