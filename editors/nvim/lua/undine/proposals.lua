--- Draws a proposed change into the buffers of its files, with its keys, and takes both away again.
local hunks_of = require("undine.hunks")
local keys = require("undine.proposal_keys")
local state = require("undine.state")

local M = {}

---@param ask undine.Ask
---@return table[] diffs of its tool call
local function diffs_of(ask)
  return vim
    .iter(vim.tbl_get(ask.params, "toolCall", "content") or {})
    :filter(function(it)
      return it.type == "diff"
    end)
    :totable()
end

--- The places of the change that may be chosen by themselves.
---@param ask undine.Ask
---@return agent.ProposedHunk[]
function M.given(ask)
  return vim.tbl_get(ask.params, "toolCall", "_meta", "undine", "hunks") or {}
end

---@param buf integer
---@param proposal undine.Proposal
local function draw(buf, proposal)
  vim.api.nvim_buf_clear_namespace(buf, state.ns, 0, -1)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local ask = proposal.ask
  local given = #proposal.given > 0 and hunks_of.given(lines, proposal.given, proposal.old_text)
  local hunks = given or hunks_of.hunks(lines, proposal.new_text, proposal.old_text)
  for _, hunk in ipairs(hunks) do
    hunk.choice = hunk.id and ask.choices[hunk.id]
  end
  local shape = { width = vim.o.columns, tabstop = vim.bo[buf].tabstop }
  shape.hint, shape.choice_hint = keys.hints(#M.given(ask) > 1)
  local reason = require("undine.approvals").reason(ask.params)
  if reason then
    shape.hint = ("%s  %s"):format(shape.hint, reason)
  end
  proposal.anchors, proposal.hunks = {}, hunks
  for _, mark in ipairs(hunks_of.render(hunks, #lines, shape)) do
    local id = vim.api.nvim_buf_set_extmark(buf, state.ns, mark.row, 0, mark.opts)
    if mark.hunk then
      proposal.anchors[mark.hunk] = id
    end
  end
end

--- The buffer of a file that was never written. (A file on disk is found by `bufadd`, through links too.)
---@param path string
---@return integer?
local function unwritten_buffer(path)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buf)
    return vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf) == path
  end)
end

--- The buffer of the file, loaded; one of our own when the file does not exist.
---@param path string
---@return integer buf
---@return boolean is_new
local function buffer_for(path)
  if vim.uv.fs_stat(path) then
    local buf = vim.fn.bufadd(path)
    -- A swap file of another Neovim must not put up a prompt here.
    local shortmess = vim.o.shortmess
    vim.opt.shortmess:append("A")
    vim.fn.bufload(buf)
    vim.o.shortmess = shortmess
    vim.bo[buf].buflisted = true
    return buf, false
  end
  local unwritten = unwritten_buffer(path)
  if unwritten then
    return unwritten, false
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, "undine://new" .. path)
  local filetype = vim.filetype.match({ filename = path })
  if filetype then
    vim.bo[buf].filetype = filetype
  end
  vim.bo[buf].modifiable = false
  return buf, true
end

---@param buf integer
---@param proposal undine.Proposal
local function take(buf, proposal)
  draw(buf, proposal)
  proposal.undo_keys = keys.set(buf, #proposal.given > 0)
  state.proposals[buf] = proposal
end

--- Keeps a change in its buffer when that is read again, and forgets it while the buffer is unloaded.
---@param buf integer
---@param proposal undine.Proposal
---@return integer[] autocommands
local function watch(buf, proposal)
  return {
    vim.api.nvim_create_autocmd("BufUnload", {
      buffer = buf,
      callback = function()
        state.proposals[buf] = nil
      end,
    }),
    vim.api.nvim_create_autocmd("BufReadPost", {
      buffer = buf,
      callback = function()
        for _, undo in ipairs(proposal.undo_keys) do
          undo()
        end
        take(buf, proposal)
      end,
    }),
  }
end

---@param path string
---@param ask undine.Ask
---@return string absolute
local function absolute(path, ask)
  if vim.startswith(path, "/") or path:match("^%a:[/\\]") then
    return vim.fs.normalize(path)
  end
  local session = state.sessions[ask.session_id]
  local cwd = session and session.cwd ~= "" and session.cwd or vim.fn.getcwd()
  return vim.fs.normalize(vim.fs.joinpath(cwd, path))
end

---@param ask undine.Ask
local function stop_watching(ask)
  for _, id in ipairs(ask.autocommands or {}) do
    pcall(vim.api.nvim_del_autocmd, id)
  end
  ask.autocommands = {}
end

--- Draws every file of the change into its buffer.
---@param ask undine.Ask
---@return integer[] bufs in the order of the diffs; those already equal to the proposal are left out
function M.draw_all(ask)
  stop_watching(ask)
  ask.bufs = {}
  for _, diff in ipairs(diffs_of(ask)) do
    local path = absolute(diff.path, ask)
    local buf, is_new = buffer_for(path)
    local new_text = diff.newText or ""
    local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
    local old_text = diff.oldText ~= vim.NIL and diff.oldText or nil
    if #hunks_of.hunks(lines, new_text, old_text) > 0 then
      local proposal = {
        ask = ask,
        path = path,
        is_new = is_new,
        new_text = new_text,
        old_text = old_text,
        given = vim.tbl_filter(function(it)
          return vim.fs.normalize(vim.uri_to_fname(it.uri)) == path
        end, M.given(ask)),
        hunks = {},
        anchors = {},
        undo_keys = {},
      }
      table.insert(ask.bufs, buf)
      take(buf, proposal)
      vim.list_extend(ask.autocommands, watch(buf, proposal))
    elseif is_new then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end
  return ask.bufs
end

--- Draws it again in all its buffers, after a choice.
---@param ask undine.Ask
function M.redraw(ask)
  for _, buf in ipairs(M.live_bufs(ask)) do
    draw(buf, state.proposals[buf])
  end
end

--- The place of the change at a row.
---@param buf integer
---@param row integer
---@return undine.Hunk?
function M.hunk_at(buf, row)
  for at, hunk in ipairs(state.proposals[buf].hunks) do
    local first = M.anchor_row(buf, at)
    if first <= row and row < first + math.max(1, hunk.n_removed) then
      return hunk
    end
  end
end

--- The buffers that show it now.
---@param ask undine.Ask
---@return integer[] bufs that still show it
function M.live_bufs(ask)
  return vim
    .iter(ask.bufs or {})
    :filter(function(buf)
      return state.proposals[buf] ~= nil and state.proposals[buf].ask == ask
    end)
    :totable()
end

--- Where a changed place stands now.
---@param buf integer
---@param at integer place in the anchors
---@return integer row 0-based
function M.anchor_row(buf, at)
  local id = state.proposals[buf].anchors[at]
  return vim.api.nvim_buf_get_extmark_by_id(buf, state.ns, id, {})[1] or 0
end

--- Takes away every mark and key of this change.
---@param ask undine.Ask
function M.clear(ask)
  stop_watching(ask)
  for _, buf in ipairs(M.live_bufs(ask)) do
    local proposal = state.proposals[buf]
    state.proposals[buf] = nil
    for _, undo in ipairs(proposal.undo_keys) do
      undo()
    end
    vim.api.nvim_buf_clear_namespace(buf, state.ns, 0, -1)
    if proposal.is_new then
      require("undine.windows").wipe(buf)
    end
  end
end

return M
