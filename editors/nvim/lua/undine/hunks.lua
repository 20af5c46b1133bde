--- What differs between a buffer and a proposed text, and the marks that show it. Pure.
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
