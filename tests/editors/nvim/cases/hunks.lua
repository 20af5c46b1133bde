--- What differs, and where its marks stand.

local function hunks(lines, new_text)
  return require("undine.hunks").hunks(lines, new_text)
end

return {
  ["line ends and a missing last one make no difference"] = function(T)
    T.eq(hunks({ "a", "b" }, "a\nb\n"), {})
    T.eq(hunks({ "a", "b" }, "a\r\nb"), {})
    T.eq(hunks({ "" }, ""), {})
  end,

  ["a change, an insertion and a deletion"] = function(T)
    T.eq(hunks({ "a", "b", "c", "d" }, "A\nb\nx\nc\n"), {
      { first = 0, n_removed = 1, added = { "A" } },
      { first = 2, n_removed = 0, added = { "x" } },
      { first = 3, n_removed = 1, added = {} },
    })
  end,

  ["an empty file and an emptied file"] = function(T)
    T.eq(hunks({ "" }, "a\n"), { { first = 0, n_removed = 0, added = { "a" } } })
    T.eq(hunks({ "a", "b" }, ""), { { first = 0, n_removed = 2, added = {} } })
  end,

  ["every mark lies within the buffer, whatever the texts"] = function(T)
    local seed = 20240611
    math.randomseed(seed)
    local function text()
      local lines = {}
      for at = 1, math.random(0, 6) do
        lines[at] = ("abc"):sub(math.random(3)):sub(1, 1)
      end
      return lines
    end
    for round = 1, 2000 do
      local old, new = text(), text()
      if #old == 0 then
        old = { "" }
      end
      local found = hunks(old, table.concat(new, "\n"))
      local shape = { width = 10, tabstop = 8, hint = "" }
      local n_jumps = 0
      for _, mark in ipairs(require("undine.hunks").render(found, #old, shape)) do
        T.ok(mark.row >= 0 and mark.row < #old, ("seed %d, round %d"):format(seed, round))
        n_jumps = n_jumps + (mark.hunk and 1 or 0)
      end
      T.eq(n_jumps, #found)

      -- Applying the hunks from the last to the first gives the new text.
      local result = #old == 1 and old[1] == "" and {} or vim.deepcopy(old)
      for at = #found, 1, -1 do
        local hunk = found[at]
        for _ = 1, hunk.n_removed do
          table.remove(result, hunk.first + 1)
        end
        for offset, line in ipairs(hunk.added) do
          table.insert(result, hunk.first + offset, line)
        end
      end
      T.eq(result, new, ("seed %d, round %d"):format(seed, round))
    end
  end,

  ["what was done since the proposal was made is no part of it"] = function(T)
    local hunks = require("undine.hunks").hunks
    local old, new = "1\n2\n3\n4\n5\n", "1\n2\n3\nfour\n5\n"
    local change = { first = 3, n_removed = 1, added = { "four" } }
    local function at(row)
      return { vim.tbl_extend("force", change, { first = row }) }
    end
    T.eq(hunks({ "1", "2", "3", "4", "5" }, new, old), at(3))
    T.eq(hunks({ "0", "1", "two", "3", "4", "5" }, new, old), at(4))
    T.eq(hunks({ "3", "4", "5", "6" }, new, old), at(1))
    -- Where it touches the proposal itself, all that differs is shown.
    T.eq(
      hunks({ "1", "2", "3", "4 and a half", "5" }, new, old),
      { { first = 3, n_removed = 1, added = { "four" } } }
    )
    T.eq(hunks({ "1", "2", "3", "four", "5" }, new, old), {})
  end,
}
