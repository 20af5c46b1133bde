--- Open buffers as the server must have them: found by URI, told whole where places would be misread, saved when asked.
local state = require("undine.state")

local M = {}

--- The loaded buffer of a document, also when it was opened through a link; never made by asking.
---@param uri string
---@return integer? buf
function M.loaded(uri)
  local name = vim.uri_to_fname(uri)
  local bufs = vim.iter(vim.api.nvim_list_bufs()):filter(vim.api.nvim_buf_is_loaded):totable()
  for _, buf in ipairs(bufs) do
    if vim.api.nvim_buf_get_name(buf) == name then
      return buf
    end
  end
  local real = vim.uv.fs_realpath(name)
  return real
    and vim.iter(bufs):find(function(buf)
      local it = vim.api.nvim_buf_get_name(buf)
      return it ~= "" and vim.uv.fs_realpath(it) == real
    end)
end

--- Closes the undo step of a buffer, so that undoing the edit takes back the edit alone: Neovim puts changes into one
--- step while no key is typed between them.
---
--- Not while a person inserts text there: the step cannot be closed beneath the inserted text without losing it.
---@param buf integer
function M.close_undo_step(buf)
  local is_inserting = buf == vim.api.nvim_get_current_buf() and vim.startswith(vim.fn.mode(), "i")
  if not is_inserting then
    vim.bo[buf].undolevels = vim.bo[buf].undolevels
  end
end

--- Gives the server the buffer's whole text again: a changed 'endofline' is no change of a line, so that Neovim would
--- not tell it.
---@param buf integer
function M.send_whole(buf)
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
    M.send_whole(buf)
  end
end

--- Answers `undine/document/save`: `saved` tells whether the disk now has the buffer's text.
---@param params { uri: string }
---@return { saved: boolean }
function M.save(params)
  local buf = M.loaded(params.uri)
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
