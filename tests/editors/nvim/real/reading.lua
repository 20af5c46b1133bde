--- What the agent reads is what the person sees.
local scenes = require("scene")

--- Makes `n` random small changes in the child's a.txt, from a fixed seed that goes on over calls.
local function type_fast(child, n)
  child:run(function(count)
    local buf = vim.fn.bufnr("a.txt")
    local pieces = { "x", "é", "日本", "😀", "", "\n", "two words", "a\nb\n", "\t" }
    local function random(below)
      -- A small generator of our own, so that a failing run can be repeated anywhere.
      _G.seed = (_G.seed * 1103515245 + 12345) % 2147483648
      return math.floor(_G.seed / 65536) % below
    end
    -- Places must not lie inside a character.
    local function column(row)
      local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
      local starts = vim.list_extend(vim.str_utf_pos(line), { #line + 1 })
      return starts[random(#starts) + 1] - 1
    end
    for _ = 1, count do
      local n_rows = vim.api.nvim_buf_line_count(buf)
      local first = random(n_rows)
      local last = math.min(n_rows - 1, first + (random(4) == 0 and random(3) or 0))
      local from, to = column(first), column(last)
      if first == last and to < from then
        from, to = to, from
      end
      if first == last and to - from > 12 then
        to = from
      end
      local text = vim.split(pieces[random(#pieces) + 1], "\n")
      vim.api.nvim_buf_set_text(buf, first, from, last, to, text)
    end
  end, n)
end

return {
  ["an unsaved buffer is read as it stands"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "disk\n" })
    scene.child:cmd("edit a.txt")
    scene.child:keys("ccunsaved é<Esc>osecond<Esc>")
    scene:prompt("Read it.")
    scene.model:call("r1", "read_file", { path = "a.txt" })
    local request = scene.model:answer("It says unsaved.")
    T.eq(request:result("r1"), "unsaved é\nsecond\n")
    scene:reads("It says unsaved.")
    scene:rests()
    T.eq(scene:disk("a.txt"), "disk\n")
  end,

  ["what is typed after the server knows the file is read too"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\ntwo\n" })
    scene.child:cmd("edit a.txt")
    scene:prompt("Wait.")
    local request = scene.model:next()
    scene.child:cmd("wincmd h")
    scene.child:keys("Gcctwo and more<Esc>ggIat the front: <Esc>")
    scene:settle()
    request:call("r1", "read_file", { path = "a.txt" })
    request:finish()
    T.eq(scene.model:answer("Good."):result("r1"), "at the front: one\ntwo and more\n")
    scene:rests()
  end,

  ["typing at carriage returns within a file is read as it is"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\r\ntwo\nlone\rreturn\nlast\n" })
    scene.child:cmd("edit a.txt")
    scene:prompt("Wait.")
    local request = scene.model:next()
    scene.child:cmd("wincmd h")
    scene.child:keys("ggA behind<Esc>3GAmore<Esc>Gccend<Esc>")
    scene:settle()
    request:call("r1", "read_file", { path = "a.txt" })
    request:finish()
    local text = "one\r behind\ntwo\nlone\rreturnmore\nend\n"
    T.eq(scene.model:answer("Good."):result("r1"), text)
    scene:rests()
  end,

  ["2,000 small changes while a turn runs leave the server with the buffer's text"] = function(T)
    local lines = {}
    for at = 1, 60 do
      lines[at] = ("line %d é 日本 😀 end"):format(at)
    end
    local scene = scenes.open(T, { ["a.txt"] = table.concat(lines, "\n") .. "\n" })
    scene.child:cmd("edit a.txt")
    scene.child:run(function()
      _G.seed = 20261
    end)
    scene:prompt("Talk while I type.")
    local request = scene.model:next()
    for at = 1, 20 do
      request:say(("word %d "):format(at))
      type_fast(scene.child, 100)
      if at % 5 == 0 then
        -- A fast model may ask before the last keys have come through the pipe; what is read then is a little old.
        scene:settle()
        local id = "r" .. at
        request:call(id, "read_file", { path = "a.txt" })
        request:finish()
        request = scene.model:next()
        local text = table.concat(scene:lines("a.txt"), "\n") .. "\n"
        T.eq(request:result(id), text, "after changes from the seed 20261")
      end
    end
    request:finish()
    scene:rests()
    scene:reads("word 20")
  end,
}
