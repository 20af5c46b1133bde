--- What differs between a buffer and a proposed text, and the marks that show it. Pure.
local M = {}

---@class undine.Hunk
---@field first integer row (0-based) of the first line that goes, or before which lines come
---@field n_removed integer
---@field added string[]
---@field id? string the server's name for it, where it may be chosen by itself
---@field choice? boolean what the person has said about it so far

---@param text string
---@return string[] lines without their ends
function M.split(text)
  if text == "" then
    return {}
  end
  return vim.split((text:gsub("\r\n", "\n"):gsub("\n$", "")), "\n")
end

---@param old string[]
---@param new string[]
---@return undine.Hunk[]
local function diff(old, new)
  local function joined(lines)
    return #lines == 0 and "" or table.concat(lines, "\n") .. "\n"
  end
  local options = { result_type = "indices", algorithm = "histogram" }
  local indices = vim.diff(joined(old), joined(new), options)
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

--- The hunks at the rows where their lines stand after other changes; nil when those touch a hunk.
---@param hunks undine.Hunk[]
---@param changes undine.Hunk[]
---@return undine.Hunk[]?
local function moved(hunks, changes)
  for _, hunk in ipairs(hunks) do
    local shift = 0
    for _, it in ipairs(changes) do
      if it.first + it.n_removed < hunk.first then
        shift = shift + #it.added - it.n_removed
      elseif it.first <= hunk.first + hunk.n_removed then
        return nil
      end
    end
    hunk.first = hunk.first + shift
  end
  return hunks
end

--- The places that a change would touch. Pure; line ends and a missing last one make no difference here.
---
--- The buffer may have changed since the proposal was made. What was done meanwhile is no part of it, and stays.
---@param lines string[] the buffer's text now
---@param new_text string
---@param old_text? string what the proposal was made on, where that is known
---@return undine.Hunk[]
function M.hunks(lines, new_text, old_text)
  local new = M.split(new_text)
  local is_empty = #lines == 1 and lines[1] == ""
  lines = is_empty and {} or lines
  if old_text then
    local old = M.split(old_text)
    local there = moved(diff(old, new), diff(old, lines))
    if there then
      return there
    end
  end
  return diff(lines, new)
end

--- The hunks that the server has named, at the places where they stand now. Pure.
---@param lines string[] the buffer's text now
---@param given agent.ProposedHunk[] in the order of the text
---@param old_text? string what they are for, where that is known
---@return undine.Hunk[]? hunks nil when they do not fit the buffer any more
function M.given(lines, given, old_text)
  local hunks = {}
  for at, it in ipairs(given) do
    local removed, from = M.split(it.removed), it.range.start
    hunks[at] = {
      -- What is added behind a last line without an end is named by that line.
      first = from.line + (#removed == 0 and from.character > 0 and 1 or 0),
      n_removed = #removed,
      added = M.split(it.added),
      id = it.id,
    }
  end
  local there = old_text and moved(hunks, diff(M.split(old_text), lines)) or hunks
  for at, hunk in ipairs(there) do
    local now = vim.list_slice(lines, hunk.first + 1, hunk.first + hunk.n_removed)
    if not vim.deep_equal(now, M.split(given[at].removed)) then
      return nil
    end
  end
  return there
end

--- A line that stands in no buffer, coloured up to the window's edge.
---@param line string
---@param hl string
---@param shape { width: integer, tabstop: integer }
---@return [string, string][] chunks
function M.virtual_line(line, hl, shape)
  local text = line:gsub("\t", (" "):rep(shape.tabstop)):gsub("%z", "^@")
  local rest = math.max(0, shape.width - vim.fn.strdisplaywidth(text))
  return { { text .. (" "):rep(rest), hl } }
end

---@class undine.ReviewMark
---@field row integer
---@field opts vim.api.keyset.set_extmark
---@field hunk? integer set on the one mark of each hunk to which one jumps

--- Extmarks for the hunks. Pure.
---@param hunks undine.Hunk[]
---@param n_lines integer of the buffer
---@param shape { width: integer, tabstop: integer, hint: string, choice_hint?: string }
---@return undine.ReviewMark[]
function M.render(hunks, n_lines, shape)
  local marks = {}
  for at, hunk in ipairs(hunks) do
    local is_out = hunk.choice == false
    for row = hunk.first, hunk.first + (is_out and 0 or hunk.n_removed) - 1 do
      table.insert(marks, { row = row, opts = { line_hl_group = "UndineDelete", priority = 200 } })
    end

    local virtual = vim
      .iter(hunk.added)
      :map(function(line)
        return M.virtual_line(line, is_out and "UndineDim" or "UndineAdd", shape)
      end)
      :totable()
    -- What comes stands below the last line that goes, or below the line before the place.
    local is_above = hunk.n_removed == 0 and hunk.first == 0
    local below = math.max(0, hunk.first + hunk.n_removed - 1)
    local anchor = hunk.n_removed > 0 and hunk.first or below
    local hint = ("  %d/%d"):format(at, #hunks)
    if hunk.choice ~= nil then
      hint = ("%s  %s"):format(hint, is_out and "left out" or "chosen")
    end
    if at == 1 then
      hint = ("%s  %s"):format(hint, shape.hint)
    elseif hunk.id and hunk.choice == nil and shape.choice_hint then
      hint = ("%s  %s"):format(hint, shape.choice_hint)
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

return M
