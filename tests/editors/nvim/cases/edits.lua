--- Text edits, byte for byte.

--- A text as the buffer that shows it, and back.
local function lines_of(text, format)
  local line_end = ({ unix = "\n", dos = "\r\n", mac = "\r" })[format]
  local lines = vim.split(text, line_end, { plain = true })
  local has_break = #lines > 1 and lines[#lines] == ""
  if has_break then
    table.remove(lines)
  end
  return lines, has_break, line_end
end

--- Makes the edits with the module in a buffer and returns the text that then stands there.
local function put(text, format, edits)
  local lines, has_break, line_end = lines_of(text, format)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].fileformat, vim.bo[buf].endofline = format, has_break
  local breaks = require("undine.edits").put(buf, edits, "utf-16")
  local got = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), line_end)
  vim.api.nvim_buf_delete(buf, { force = true })
  return breaks and got .. line_end or got
end

--- The server's place of a byte.
local function position(text, line_end, byte)
  local before = text:sub(1, byte)
  local _, n_lines = before:gsub(line_end, "")
  local line = before:match(".*" .. line_end .. "(.*)$") or before
  return { line = n_lines, character = vim.str_utfindex(line, "utf-16") }
end

return {
  ["random edits of random texts give what plain replacing gives, in each file format"] = function(
    T
  )
    local seed = 20262
    local function random(below)
      seed = (seed * 1103515245 + 12345) % 2147483648
      return math.floor(seed / 65536) % below
    end
    for round = 1, 3000 do
      local format = ({ "unix", "dos", "mac" })[random(3) + 1]
      local _, _, line_end = lines_of("", format)
      local pieces = { "a", "é", "日", "😀", line_end, line_end, "two words" }
      local function some(n)
        local out = {}
        for at = 1, random(n + 1) do
          out[at] = pieces[random(#pieces) + 1]
        end
        return out
      end
      -- The text is made of pieces; every other stretch of them is replaced.
      local old, new, edits, spans = {}, {}, {}, {}
      for at = 1, random(4) * 2 + 1 do
        local stretch = table.concat(some(4))
        table.insert(old, stretch)
        if at % 2 == 0 then
          local replacement = table.concat(some(3))
          table.insert(new, replacement)
          local from = #table.concat(old) - #stretch
          table.insert(spans, { from, from + #stretch, replacement })
        else
          table.insert(new, stretch)
        end
      end
      local text, want = table.concat(old), table.concat(new)
      for at, it in ipairs(spans) do
        edits[at] = {
          range = {
            start = position(text, line_end, it[1]),
            ["end"] = position(text, line_end, it[2]),
          },
          newText = it[3],
        }
      end
      local got = put(text, format, edits)
      T.eq(
        got,
        want,
        ("seed 20262, round %d, %s, %s\n%s"):format(
          round,
          format,
          vim.inspect(text),
          vim.inspect(edits)
        )
      )
    end
  end,
}
