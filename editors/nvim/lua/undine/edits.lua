--- Text edits of the server as changes of a buffer, exact to the byte.
---
--- Neovim's own function takes carriage returns out of what it inserts, and never adds or takes away the line break at
--- the end of a file, which a buffer keeps in 'endofline' and not in a line.
local M = {}

---@class undine.Change for `nvim_buf_set_text`; rows and columns 0-based, columns in bytes
---@field from integer[] row, column
---@field to integer[] row, column
---@field lines string[]

local line_ends = { dos = "\r\n", mac = "\r" }

---@param a integer[]
---@param b integer[]
local function is_before(a, b)
  return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2])
end

--- In the order of the text, with edits that touch each other as one: what stands at the end of a file is told by one
--- edit alone.
---@param edits lsp.TextEdit[]
---@return lsp.TextEdit[]
local function in_order(edits)
  local sorted = {}
  for at, it in ipairs(edits) do
    local from, to = it.range.start, it.range["end"]
    sorted[at] = { from = from, to = to, newText = it.newText, at = at }
  end
  table.sort(sorted, function(a, b)
    if a.from.line ~= b.from.line then
      return a.from.line < b.from.line
    elseif a.from.character ~= b.from.character then
      return a.from.character < b.from.character
    end
    return a.at < b.at
  end)
  local merged = {}
  for _, it in ipairs(sorted) do
    local before = merged[#merged]
    if before and vim.deep_equal(before.to, it.from) then
      before.to, before.newText = it.to, before.newText .. it.newText
    else
      table.insert(merged, it)
    end
  end
  return merged
end

--- The changes for these edits, from the last to the first, so that each may be made at the place it names. Pure.
---@param lines string[] of the buffer
---@param format string its 'fileformat'
---@param has_break boolean its 'endofline'
---@param edits lsp.TextEdit[]
---@param encoding string
---@return undine.Change[] changes
---@return boolean has_break the 'endofline' to come
function M.changes(lines, format, has_break, edits, encoding)
  local last = { #lines - 1, #lines[#lines] }
  --- Behind the last line's break stands nothing; what the server calls the line there is no line of the buffer.
  local function is_behind(position)
    return has_break and position.line > last[1]
  end
  local function place(position)
    if position.line > last[1] then
      return last
    end
    local line = lines[position.line + 1]
    -- A place within a line end of two characters is the line's end.
    return { position.line, vim.str_byteindex(line, encoding, position.character, false) }
  end

  local changes, ends_with_break = {}, has_break
  for _, edit in ipairs(in_order(edits)) do
    local from, to = edit.from, edit.to
    local text = edit.newText
    if line_ends[format] then
      text = text:gsub(line_ends[format], "\n")
    end
    local change = { from = place(from), to = place(to) }
    local is_at_end = has_break and is_behind(to)
      or not has_break and not is_before(change.to, last)
    if
      is_at_end and not (text == "" and from.line == to.line and from.character == to.character)
    then
      if is_behind(from) then
        text = "\n" .. text
      end
      if text ~= "" then
        ends_with_break = text:sub(-1) == "\n"
        text = text:gsub("\n$", "")
      else
        -- What is left ends where the line before ended.
        ends_with_break = from.character == 0 and from.line > 0
        if ends_with_break then
          change.from = { from.line - 1, #lines[from.line] }
        end
      end
    end
    change.lines = vim.split(text, "\n", { plain = true })
    table.insert(changes, 1, change)
  end
  return changes, ends_with_break
end

--- Why places of the server would not be ours: it counts a carriage return within a line as a line's end.
---@param lines string[]
---@return string?
function M.problem(lines)
  for at, line in ipairs(lines) do
    if line:find("\r[^\r]") or line:find("\r\r") then
      return ("line %d holds a carriage return that is no line end"):format(at)
    end
  end
end

--- Makes the edits in the buffer and answers its 'endofline' to come.
---@param buf integer
---@param edits lsp.TextEdit[]
---@param encoding string
---@return boolean has_break
function M.put(buf, edits, encoding)
  local bo = vim.bo[buf]
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  local changes, has_break = M.changes(lines, bo.fileformat, bo.endofline, edits, encoding)
  for _, it in ipairs(changes) do
    vim.api.nvim_buf_set_text(buf, it.from[1], it.from[2], it.to[1], it.to[2], it.lines)
  end
  return has_break
end

return M
