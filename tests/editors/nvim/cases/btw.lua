--- Side questions have a window of their own, and each run ends with one line.

local function begin(T)
  local child = T.child()
  child:open_chat()
  child:keys("ihello<C-s>")
  child:take("session/prompt")
  return child
end

local function shown(child)
  return child:run(function()
    return table.concat(vim.api.nvim_buf_get_lines(require("undine.state").btw.buf, 0, -1, false), "\n")
  end)
end

return {
  ["a side question is answered in its window while the agent works, and older ones are looked at and cleared"] = function(T)
    local child = begin(T)
    child:run(function()
      fake.results["undine/btw"] = function(params)
        if params.question == "what is a?" then
          return { text = "A letter." }
        end
        return { text = "Another.", called = { "read_file" } }
      end
      fake.results["undine/btw/clear"] = function()
        return vim.empty_dict()
      end
    end)
    child:cmd("UndineBtw what is a?")
    T.eq(child:take("undine/btw"), '{"question":"what is a?","sessionId":"s1","token":"btw-1"}')
    child:see("A letter.")
    child:cmd("UndineBtw and b?")
    child:take("undine/btw")
    child:see("It called read_file; nothing was run.")
    child:keys("[")
    T.has(shown(child), "A letter.")
    child:keys("]")
    T.has(shown(child), "Another.")
    child:keys("C")
    child:take("undine/btw/clear")
    T.has(shown(child), "No question was asked")
    child:keys("q")
    T.eq(
      child:run(function()
        return require("undine.state").btw.win == nil
      end),
      true
    )
  end,

  ["an answer is shown as it streams"] = function(T)
    local child = begin(T)
    child:run(function()
      fake.results["undine/btw"] = nil
      local state = require("undine.state")
      state.shown().asides = { { question = "q", text = "", token = "t" } }
      require("undine.btw").ask("")
    end)
    for _, text in ipairs({ "One ", "two" }) do
      child:run(function(it)
        fake.notify("undine/btw/chunk", { sessionId = "s1", token = "t", text = it })
      end, text)
    end
    child:see("One two")
  end,

  ["a run ends with the line of what it took"] = function(T)
    local child = begin(T)
    child:run(function()
      fake.finish({
        stopReason = "end_turn",
        _meta = { undine = { summary = { text = "1.2 s, 3.4k tokens, +2 -0 lines" } } },
      })
    end)
    child:see("1.2 s, 3.4k tokens, +2 -0 lines")
  end,
}
