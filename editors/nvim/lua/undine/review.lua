--- Shows a proposed change in the file it is about: what would go as marked lines, what would come as virtual lines.
---
--- Marks and keys are there only while the question is open.
local config = require("undine.config")
local state = require("undine.state")

local M = {}

---@class undine.Hunk
---@field first integer row (0-based) of the first line that goes, or before which lines come
---@field n_removed integer
---@field added string[]

--- The places that differ. Pure; line ends and a missing last one make no difference here.
---@param lines string[] the buffer's text now
---@param new_text string
---@return undine.Hunk[]
function M.hunks(lines, new_text)
  local new = vim.split((new_text:gsub("\r\n", "\n"):gsub("\n$", "")), "\n")
  if new_text == "" then
    new = {}
  end
  local is_empty = #lines == 1 and lines[1] == ""
  local old_text = is_empty and "" or table.concat(lines, "\n") .. "\n"
  local joined = #new == 0 and "" or table.concat(new, "\n") .. "\n"
  local indices = vim.diff(old_text, joined, { result_type = "indices", algorithm = "histogram" })
  return vim
    .iter(indices --[[@as integer[][] ]])
    :map(function(it)
      local at, n_removed, new_at, n_added = unpack(it)
      return {
        -- For a pure insertion the diff names the line after which it stands.
        first = n_removed == 0 and at or at - 1,
        n_removed = n_removed,
        added = vim.list_slice(new, new_at, new_at + n_added - 1),
      }
    end)
    :totable()
end

---@class undine.ReviewMark
---@field row integer
---@field opts vim.api.keyset.set_extmark
---@field hunk? integer set on the one mark of each hunk to which one jumps

--- Extmarks for the hunks. Pure.
---@param hunks undine.Hunk[]
---@param n_lines integer of the buffer
---@param shape { width: integer, tabstop: integer, hint: string }
---@return undine.ReviewMark[]
function M.render(hunks, n_lines, shape)
  local marks = {}
  for at, hunk in ipairs(hunks) do
    for row = hunk.first, hunk.first + hunk.n_removed - 1 do
      table.insert(marks, { row = row, opts = { line_hl_group = "UndineDelete", priority = 200 } })
    end

    local virtual = vim
      .iter(hunk.added)
      :map(function(line)
        local text = line:gsub("\t", (" "):rep(shape.tabstop))
        local rest = math.max(0, shape.width - vim.fn.strdisplaywidth(text))
        return { { text .. (" "):rep(rest), "UndineAdd" } }
      end)
      :totable()
    -- What comes stands below the last line that goes, or below the line before the place.
    local is_above = hunk.n_removed == 0 and hunk.first == 0
    local below = math.max(0, hunk.first + hunk.n_removed - 1)
    local anchor = hunk.n_removed > 0 and hunk.first or below
    local hint = ("  %d/%d"):format(at, #hunks)
    if at == 1 then
      hint = ("%s  %s"):format(hint, shape.hint)
    end
    table.insert(marks, {
      row = math.min(below, n_lines - 1),
      opts = { virt_lines = #virtual > 0 and virtual or nil, virt_lines_above = is_above },
    })
    table.insert(marks, {
      row = math.min(anchor, n_lines - 1),
      opts = { virt_text = { { hint, "UndineHint" } }, virt_text_pos = "eol", priority = 200 },
      hunk = at,
    })
  end
  return marks
end

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

---@return string
local function hint()
  local keys, words = config.get().keys, {}
  for _, it in ipairs({
    { keys.accept, "accept" },
    { keys.reject, "reject" },
    { keys.next_hunk, "next" },
  }) do
    if it[1] then
      table.insert(words, ("%s %s"):format(it[1], it[2]))
    end
  end
  return table.concat(words, ", ")
end

---@param buf integer
---@param proposal undine.Proposal
local function draw(buf, proposal)
  vim.api.nvim_buf_clear_namespace(buf, state.ns, 0, -1)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local hunks = M.hunks(lines, proposal.new_text)
  local shape = { width = vim.o.columns, tabstop = vim.bo[buf].tabstop, hint = hint() }
  proposal.anchors = {}
  for _, mark in ipairs(M.render(hunks, #lines, shape)) do
    local id = vim.api.nvim_buf_set_extmark(buf, state.ns, mark.row, 0, mark.opts)
    if mark.hunk then
      proposal.anchors[mark.hunk] = id
    end
  end
end

--- Sets a key of the buffer and returns how to take it back, to what stood there before.
---@param buf integer
---@param key string
---@param run fun()
---@param desc string
---@return fun() undo
local function borrow_key(buf, key, run, desc)
  local before = vim.api.nvim_buf_call(buf, function()
    return vim.fn.maparg(key, "n", false, true)
  end)
  vim.keymap.set("n", key, run, { buffer = buf, nowait = true, desc = "Undine: " .. desc })
  return function()
    pcall(vim.keymap.del, "n", key, { buffer = buf })
    if before.buffer == 1 then
      vim.api.nvim_buf_call(buf, function()
        vim.fn.mapset("n", false, before)
      end)
    end
  end
end

---@param buf integer
---@return (fun())[] undo
local function set_keys(buf)
  local approvals = require("undine.approvals")
  local keys = config.get().keys
  local wanted = {
    {
      keys.accept,
      "accept the change",
      function()
        approvals.accept("")
      end,
    },
    {
      keys.accept_session,
      "accept, and all like it in this session",
      function()
        approvals.accept("session")
      end,
    },
    {
      keys.reject,
      "reject the change",
      function()
        approvals.reject("")
      end,
    },
    {
      keys.next_hunk,
      "next changed place",
      function()
        M.jump(1)
      end,
    },
    {
      keys.prev_hunk,
      "previous changed place",
      function()
        M.jump(-1)
      end,
    },
  }
  local undo = {}
  for _, it in ipairs(wanted) do
    if it[1] then
      table.insert(undo, borrow_key(buf, it[1], it[3], it[2]))
    end
  end
  return undo
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
  proposal.undo_keys = set_keys(buf)
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
local function draw_all(ask)
  stop_watching(ask)
  ask.bufs = {}
  for _, diff in ipairs(diffs_of(ask)) do
    local path = absolute(diff.path, ask)
    local buf, is_new = buffer_for(path)
    local new_text = diff.newText or ""
    local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
    if #M.hunks(lines, new_text) > 0 then
      local proposal = {
        ask = ask,
        path = path,
        is_new = is_new,
        new_text = new_text,
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

---@param ask undine.Ask
---@return integer[] bufs that still show it
local function live_bufs(ask)
  return vim
    .iter(ask.bufs or {})
    :filter(function(buf)
      return state.proposals[buf] ~= nil and state.proposals[buf].ask == ask
    end)
    :totable()
end

---@param buf integer
---@param at integer place in the anchors
---@return integer row 0-based
local function anchor_row(buf, at)
  local id = state.proposals[buf].anchors[at]
  return vim.api.nvim_buf_get_extmark_by_id(buf, state.ns, id, {})[1] or 0
end

--- Virtual lines above the first line of the buffer.
---@param buf integer
---@return integer
local function n_above(buf)
  local marks = vim.api.nvim_buf_get_extmarks(buf, state.ns, 0, { 0, -1 }, { details = true })
  return vim.iter(marks):fold(0, function(sum, mark)
    return sum + (mark[4].virt_lines_above and #(mark[4].virt_lines or {}) or 0)
  end)
end

--- Puts the window's cursor on a hunk and the hunk into the middle.
---@param win integer
---@param buf integer
---@param at integer
local function reveal(win, buf, at)
  local row = anchor_row(buf, at)
  vim.api.nvim_win_set_cursor(win, { row + 1, 0 })
  vim.api.nvim_win_call(win, function()
    vim.cmd("normal! zz")
    -- Virtual lines above the first line are out of sight unless the view is told to leave room.
    if row == 0 then
      local room = vim.api.nvim_win_get_height(win) - 1
      vim.fn.winrestview({ topline = 1, topfill = math.min(n_above(buf), room) })
    end
  end)
end

--- A window for files: the one before, else another that shows one, else a new one beside the chat.
---@param buf integer
---@return integer win
local function file_window(buf)
  local function is_fit(win)
    return vim.api.nvim_win_get_config(win).relative == ""
      and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ""
      and not vim.wo[win].winfixbuf
  end
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  local wins = vim.list_extend({ before }, vim.api.nvim_tabpage_list_wins(0))
  local win = vim.iter(wins):find(function(it)
    return it ~= 0 and is_fit(it)
  end)
  if win and pcall(vim.api.nvim_win_set_buf, win, buf) then
    return win
  end
  return vim.api.nvim_open_win(buf, false, { split = "left", win = -1 })
end

---@param buf integer
---@return integer? win of this tab page
local function window_of(buf)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    return vim.api.nvim_win_get_buf(win) == buf
  end)
end

--- Shows the change in its files. The cursor stays; a file comes into sight by itself only beside the chat.
---@param ask undine.Ask
---@return boolean is_shown false when there is no difference to show inline
function M.present(ask)
  local bufs = draw_all(ask)
  if #bufs == 0 then
    return false
  end
  local first = bufs[1]
  if window_of(first) then
    return true
  end
  if config.get().show_proposals and require("undine.chat").is_current() then
    reveal(file_window(first), first, 1)
  else
    local name = vim.fn.fnamemodify(state.proposals[first].path, ":~:.")
    vim.notify(("Undine proposes a change to %s; :UndineReview shows it."):format(name))
  end
  return true
end

--- Goes to the change: into its window, at its first place.
---@param ask undine.Ask
---@return boolean is_shown
function M.go(ask)
  local bufs = live_bufs(ask)
  if #bufs == 0 then
    bufs = draw_all(ask)
  end
  if #bufs == 0 then
    return false
  end
  local win = window_of(bufs[1]) or file_window(bufs[1])
  vim.api.nvim_set_current_win(win)
  reveal(win, bufs[1], 1)
  return true
end

--- Whether a changed place of it is on the screen.
---@param ask undine.Ask
---@return boolean
function M.is_in_sight(ask)
  for _, buf in ipairs(live_bufs(ask)) do
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      if vim.api.nvim_win_get_buf(win) == buf then
        local top, bottom = vim.fn.line("w0", win), vim.fn.line("w$", win)
        for at in ipairs(state.proposals[buf].anchors) do
          local line = anchor_row(buf, at) + 1
          if line >= top and line <= bottom then
            return true
          end
        end
      end
    end
  end
  return false
end

--- Goes to the next or the previous changed place, over the files of the change and round.
---@param step 1|-1
function M.jump(step)
  local ask = state.asks[1]
  local bufs = ask and live_bufs(ask) or {}
  local buf = vim.api.nvim_get_current_buf()
  if not vim.list_contains(bufs, buf) then
    require("undine.approvals").show()
    return
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local n = #state.proposals[buf].anchors
  local from, to = step == 1 and 1 or n, step == 1 and n or 1
  for at = from, to, step do
    if (anchor_row(buf, at) - row) * step > 0 then
      reveal(0, buf, at)
      return
    end
  end
  local here = vim.iter(ipairs(bufs)):find(function(_, it)
    return it == buf
  end)
  local other = bufs[(here - 1 + step) % #bufs + 1]
  if other ~= buf then
    vim.api.nvim_win_set_buf(0, other)
  end
  reveal(0, other, step == 1 and 1 or #state.proposals[other].anchors)
end

--- Wipes our buffer of a new file; its windows go back to what they showed, so that none is lost.
---@param buf integer
local function wipe(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      local other = vim.fn.bufnr("#")
      if other > 0 and other ~= buf and vim.api.nvim_buf_is_loaded(other) then
        vim.cmd.buffer({ args = { other }, mods = { keepalt = true } })
      else
        vim.cmd.enew()
      end
    end)
  end
  vim.api.nvim_buf_delete(buf, { force = true })
end

--- Takes away every mark and key of this change.
---@param ask undine.Ask
function M.clear(ask)
  stop_watching(ask)
  for _, buf in ipairs(live_bufs(ask)) do
    local proposal = state.proposals[buf]
    state.proposals[buf] = nil
    for _, undo in ipairs(proposal.undo_keys) do
      undo()
    end
    vim.api.nvim_buf_clear_namespace(buf, state.ns, 0, -1)
    if proposal.is_new then
      wipe(buf)
    end
  end
end

return M
