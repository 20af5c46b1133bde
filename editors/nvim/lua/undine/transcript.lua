--- What was said and done in a session, and how it reads. Pure: updates in, lines and marks out.
local M = {}

---@class undine.Item
---@field kind "user"|"agent"|"thought"|"call"|"plan"|"note"
---@field rev integer grows with each change, so that a drawing can be reused
---@field chunks? string[] of what is said
---@field call? table the tool call, with every update merged into it
---@field entries? table[] of the plan
---@field is_past? boolean whether a later plan has taken its place
---@field hl? string of a note
---@field is_open? boolean whether it is unfolded

---@class undine.Mark a highlight, 0-based, the end exclusive
---@field row integer
---@field col integer
---@field end_col integer
---@field hl string

--- Lines of a command's output that are shown while it is folded: the last ones.
local n_output_lines = 6

local spoken = {
  user_message_chunk = "user",
  agent_message_chunk = "agent",
  agent_thought_chunk = "thought",
}

local status_words = {
  pending = "waiting",
  in_progress = "running",
  completed = "done",
  failed = "failed",
  cancelled = "cancelled",
}

---@param session undine.Session
---@param item undine.Item
local function push(session, item)
  item.rev = 1
  table.insert(session.items, item)
  return #session.items
end

---@param content any an ACP content block
---@return string
local function text_of(content)
  if type(content) ~= "table" then
    return ""
  end
  if content.type == "text" then
    return content.text or ""
  end
  if content.type == "resource_link" then
    return content.uri or ""
  end
  return ("[%s]"):format(content.type or "content")
end

---@param session undine.Session
---@param kind string
---@param text string
local function say(session, kind, text)
  local last = session.items[#session.items]
  if last and last.kind == kind and not last.is_whole then
    table.insert(last.chunks, text)
    last.rev = last.rev + 1
    return
  end
  push(session, { kind = kind, chunks = { text } })
end

--- Adds what the person sent; the server replays it only when a session is loaded.
---@param session undine.Session
---@param text string
function M.add_prompt(session, text)
  push(session, { kind = "user", chunks = { text }, is_whole = true })
end

--- Adds one line of our own: why a turn ended, what went wrong.
---@param session undine.Session
---@param text string
---@param hl? string
function M.add_note(session, text, hl)
  push(session, { kind = "note", chunks = { text }, hl = hl or "UndineDim" })
end

---@param session undine.Session
---@param update table
local function merge_call(session, update)
  local id = update.toolCallId or ""
  local at = session.calls[id]
  if not at then
    at = push(session, { kind = "call", call = {} })
    session.calls[id] = at
  end
  local item = session.items[at]
  for key, value in pairs(update) do
    if value ~= vim.NIL then
      item.call[key] = value
    end
  end
  item.rev = item.rev + 1
end

--- The newest plan stands whole where it was changed last; of earlier ones one line is left.
---@param session undine.Session
---@param entries table[]
local function take_plan(session, entries)
  local at = #session.items
  local last = session.items[at]
  if last and last.kind == "plan" then
    last.entries, last.rev = entries, last.rev + 1
    return
  end
  local before = session.plan and session.items[session.plan]
  if before then
    before.is_past, before.rev = true, before.rev + 1
  end
  session.plan = push(session, { kind = "plan", entries = entries })
end

--- Takes one `session/update` into the session. Kinds it does not know change nothing.
---@param session undine.Session
---@param update table
function M.reduce(session, update)
  local kind = update.sessionUpdate
  if spoken[kind] then
    say(session, spoken[kind], text_of(update.content))
  elseif kind == "tool_call" or kind == "tool_call_update" then
    merge_call(session, update)
  elseif kind == "plan" then
    take_plan(session, update.entries or {})
  elseif kind == "current_mode_update" then
    session.mode = update.currentModeId
  elseif kind == "usage_update" then
    local ours = type(update._meta) == "table" and update._meta.undine or {}
    session.usage = { used = update.used, size = update.size, cost = ours.cost }
  elseif kind == "config_option_update" then
    session.options = update.configOptions or {}
  elseif kind == "session_info_update" then
    session.title = update.title or session.title
  elseif kind == "available_commands_update" then
    session.commands = update.availableCommands or {}
  end
end

--- The text a tool call has given, and one line a file for its diffs.
---@param call table
---@return string[] lines
function M.output_lines(call)
  local lines = {}
  for _, part in ipairs(type(call.content) == "table" and call.content or {}) do
    if part.type == "diff" then
      local added, removed = 0, 0
      local hunks = vim.diff(part.oldText or "", part.newText or "", { result_type = "indices" })
      for _, hunk in
        ipairs(hunks --[[@as integer[][] ]])
      do
        removed, added = removed + hunk[2], added + hunk[4]
      end
      local path = vim.fn.fnamemodify(part.path, ":~:.")
      table.insert(lines, ("%s  +%d -%d"):format(path, added, removed))
    elseif part.type == "content" then
      local text = text_of(part.content):gsub("\n$", "")
      if text ~= "" then
        vim.list_extend(lines, vim.split(text, "\r?\n"))
      end
    end
  end
  return lines
end

---@param call table
---@return string
local function status_line(call)
  local meta = vim.tbl_get(call, "_meta", "undine") or {}
  local words = { status_words[call.status] or call.status or "waiting" }
  if meta.exitCode then
    table.insert(words, ("exit %s"):format(meta.exitCode))
  end
  if meta.durationMs then
    table.insert(words, ("%.1f s"):format(meta.durationMs / 1000))
  end
  return table.concat(words, ", ")
end

---@param out { lines: string[], marks: undine.Mark[] }
---@param line string
---@param hl? string
local function put(out, line, hl)
  table.insert(out.lines, line)
  if hl then
    table.insert(out.marks, { row = #out.lines - 1, col = 0, end_col = #line, hl = hl })
  end
end

---@type table<string, fun(item: undine.Item, out: { lines: string[], marks: undine.Mark[] })>
local draw = {
  user = function(item, out)
    put(out, "## You", "UndineUser")
    put(out, "")
    for _, line in ipairs(vim.split(table.concat(item.chunks), "\r?\n")) do
      put(out, line)
    end
  end,
  agent = function(item, out)
    for _, line in ipairs(vim.split(table.concat(item.chunks), "\r?\n")) do
      put(out, line)
    end
  end,
  thought = function(item, out)
    local lines = vim.split(vim.trim(table.concat(item.chunks)), "\r?\n")
    local unit = #lines == 1 and "line" or "lines"
    put(
      out,
      ("%s Thought, %d %s"):format(item.is_open and "▾" or "▸", #lines, unit),
      "UndineDim"
    )
    for _, line in ipairs(item.is_open and lines or {}) do
      put(out, "  " .. line, "UndineDim")
    end
  end,
  call = function(item, out)
    local call = item.call
    local title = (call.title or call.toolCallId or "tool"):gsub("%s*\n%s*", " ")
    local status = status_line(call)
    local line = ("%s %s · %s"):format(item.is_open and "▾" or "▸", title, status)
    put(out, line)
    local hl = call.status == "failed" and "UndineError" or "UndineDim"
    table.insert(
      out.marks,
      { row = #out.lines - 1, col = 0, end_col = #line - #status, hl = "UndineCall" }
    )
    table.insert(
      out.marks,
      { row = #out.lines - 1, col = #line - #status, end_col = #line, hl = hl }
    )
    local lines = M.output_lines(call)
    local first = item.is_open and 1 or math.max(1, #lines - n_output_lines + 1)
    if first > 1 then
      put(out, ("  │ … %d lines before"):format(first - 1), "UndineDim")
    end
    for i = first, #lines do
      put(out, "  │ " .. lines[i], "UndineDim")
    end
  end,
  plan = function(item, out)
    local box = { completed = "[x]", in_progress = "[-]", pending = "[ ]" }
    if item.is_past then
      local done = vim.iter(item.entries):filter(function(entry)
        return entry.status == "completed"
      end)
      put(out, ("Plan, %d of %d done"):format(#done:totable(), #item.entries), "UndineDim")
      return
    end
    for _, entry in ipairs(item.entries or {}) do
      local hl = entry.status == "completed" and "UndineDim" or nil
      put(out, ("- %s %s"):format(box[entry.status] or "[ ]", (entry.content:gsub("\n", " "))), hl)
    end
  end,
  note = function(item, out)
    put(out, (table.concat(item.chunks):gsub("%s*\n%s*", " ")), item.hl)
  end,
}

---@param item undine.Item
---@return string[] lines
---@return undine.Mark[] marks rows count from the item's first line
function M.render_item(item)
  local out = { lines = {}, marks = {} }
  draw[item.kind](item, out)
  return out.lines, out.marks
end

--- Calls and their like stand close together; what is said has a blank line before it.
---@param before undine.Item?
---@param item undine.Item
local function is_apart(before, item)
  local close = { call = true, thought = true, note = true }
  return before ~= nil and not (close[before.kind] and close[item.kind])
end

--- The whole session as it reads. `cache` lets a second call reuse what did not change.
---@param session undine.Session
---@param cache? table<undine.Item, { rev: integer, lines: string[], marks: undine.Mark[] }>
---@return string[] lines
---@return undine.Mark[] marks
---@return table<integer, integer> owners row (0-based) to the place in `session.items`
function M.render(session, cache)
  local lines, marks, owners = {}, {}, {}
  for at, item in ipairs(session.items) do
    local drawn = cache and cache[item]
    if not drawn or drawn.rev ~= item.rev then
      local item_lines, item_marks = M.render_item(item)
      drawn = { rev = item.rev, lines = item_lines, marks = item_marks }
      if cache then
        cache[item] = drawn
      end
    end
    if is_apart(session.items[at - 1], item) then
      table.insert(lines, "")
    end
    local base = #lines
    for offset, line in ipairs(drawn.lines) do
      table.insert(lines, line)
      owners[base + offset - 1] = at
    end
    for _, mark in ipairs(drawn.marks) do
      table.insert(
        marks,
        { row = base + mark.row, col = mark.col, end_col = mark.end_col, hl = mark.hl }
      )
    end
  end
  return lines, marks, owners
end

--- Opens or folds what stands at this place, and tells whether it can be folded.
---@param session undine.Session
---@param at integer place in `session.items`
---@return boolean
function M.toggle(session, at)
  local item = session.items[at]
  if not item or (item.kind ~= "thought" and item.kind ~= "call") then
    return false
  end
  item.is_open = not item.is_open
  item.rev = item.rev + 1
  return true
end

return M
