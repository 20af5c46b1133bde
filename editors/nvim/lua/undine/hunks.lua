--- What differs between a buffer and a proposed text, and the marks that show it. Pure.
local M = {}

---@class undine.Hunk
---@field first integer row (0-based) of the first line that goes, or before which lines come
---@field n_removed integer
---@field added string[]

---@param text string
---@return string[]
local function split(text)
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
  local new = split(new_text)
  local is_empty = #lines == 1 and lines[1] == ""
  lines = is_empty and {} or lines
  if old_text then
    local old = split(old_text)
    local there = moved(diff(old, new), diff(old, lines))
    if there then
      return there
    end
  end
  return diff(lines, new)
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
        local text = line:gsub("\t", (" "):rep(shape.tabstop)):gsub("%z", "^@")
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

return M
