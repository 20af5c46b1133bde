--- What a change looks like: its marks, from what the server tells of it.
local config = require("undine.config")
local hunks_of = require("undine.hunks")
local state = require("undine.state")

local M = {}

--- Lines of one hunk that have a sign; a file that was rewritten need not have thousands.
local max_signs = 200

---@class undine.Look what a hunk's drawing depends on
---@field hunk agent.ReviewHunk
---@field n_lines integer
---@field is_queued boolean
---@field is_whole boolean whether it is the whole of a file that is new
---@field is_beside boolean whether the accepted text stands beside it, line by line

---@param look undine.Look
---@return string
function M.name_of(look)
  local flags = ("%s %s %s"):format(look.is_queued, look.is_whole, look.is_beside)
  return table.concat({ look.hunk.id, look.hunk.state, look.n_lines, flags }, " ")
end

---@param hunk agent.ReviewHunk
---@return integer first row
---@return integer n_lines
function M.lines_of(hunk)
  local from, to = hunk.range.start, hunk.range["end"]
  return from.line, to.line - from.line + (to.character > 0 and 1 or 0)
end

---@param hunk agent.ReviewHunk
---@param change undine.Change
---@param is_beside boolean
---@return undine.Look
function M.look_of(hunk, change, is_beside)
  local _, n_lines = M.lines_of(hunk)
  return {
    hunk = hunk,
    n_lines = n_lines,
    is_queued = state.queued[hunk.id] == true,
    is_whole = change.file.change == "created" and hunk.baseText == "",
    is_beside = is_beside,
  }
end

---@param look undine.Look
---@return string text of the sign
---@return string hl of the sign
local function sign_of(look)
  if look.hunk.state == "mixed" then
    return "*", "UndineSignMixed"
  elseif look.n_lines == 0 then
    return "_", "UndineSignRemoved"
  elseif look.hunk.baseText == "" then
    return "+", "UndineSignAdded"
  end
  return "~", "UndineSignChanged"
end

--- The accepted lines, as many as may be shown and how many more there are.
---@param look undine.Look
---@param shape { width: integer, tabstop: integer, max_lines: integer }
---@return [string, string][][]? lines
local function removed_lines(look, shape)
  local base = hunks_of.split(look.hunk.baseText)
  if #base == 0 then
    return nil
  end
  local n_shown = #base <= shape.max_lines and #base or shape.max_lines - 1
  local lines = {}
  for at = 1, n_shown do
    lines[at] = hunks_of.virtual_line(base[at], "UndineDelete", shape)
  end
  if n_shown < #base then
    local more = ("… %d more lines"):format(#base - n_shown)
    table.insert(lines, hunks_of.virtual_line(more, "UndineDelete", shape))
  end
  return lines
end

---@param look undine.Look
---@return string? text behind the first line
local function hint_of(look)
  if look.is_queued then
    return " reverted when this step ends"
  elseif look.hunk.state == "mixed" then
    return " yours too"
  end
end

---@class undine.ChangeMark
---@field row integer
---@field opts vim.api.keyset.set_extmark

--- The marks of one hunk; the first of them tells where it is. Pure.
---@param look undine.Look
---@param n_rows integer of the buffer
---@param shape { width: integer, tabstop: integer, max_lines: integer, signs: boolean }
---@return undine.ChangeMark[]
function M.render(look, n_rows, shape)
  local first = M.lines_of(look.hunk)
  local row = math.min(first, n_rows - 1)
  local sign, sign_hl = sign_of(look)
  local is_mixed = look.hunk.state == "mixed"

  local anchor = { priority = 150 }
  if look.n_lines > 0 then
    anchor.end_row, anchor.end_col = math.min(first + look.n_lines, n_rows), 0
    if not look.is_beside and (is_mixed or not look.is_whole) then
      anchor.hl_group, anchor.hl_eol = is_mixed and "UndineMixed" or "UndineAdd", true
    end
  end
  local hint = hint_of(look)
  if hint then
    anchor.virt_text, anchor.virt_text_pos = { { hint, "UndineHint" } }, "eol"
  end
  local marks = { { row = row, opts = anchor } }

  local removed = not look.is_beside and removed_lines(look, shape)
  if removed then
    local opts = { virt_lines = removed, virt_lines_above = first < n_rows }
    table.insert(marks, { row = row, opts = opts })
  end
  if shape.signs then
    for at = 0, math.min(math.max(look.n_lines, 1), max_signs) - 1 do
      local opts = { sign_text = sign, sign_hl_group = sign_hl, priority = 20 }
      table.insert(marks, { row = math.min(row + at, n_rows - 1), opts = opts })
    end
  end
  return marks
end

--- What is said above the first line of a file that was made or deleted.
---@param change agent.WholeFile
---@return string
function M.top_line(change)
  local keys, words = config.get().keys, {}
  for _, it in ipairs({ { keys.keep_file, "keep" }, { keys.revert_file, "revert" } }) do
    if it[1] then
      table.insert(words, ("%s %s"):format(it[1], it[2]))
    end
  end
  local text = change == "created" and "Made by Undine" or "Deleted by Undine"
  return #words > 0 and ("%s  %s"):format(text, table.concat(words, ", ")) or text
end

return M
