--- Elicitation forms.

local function form(properties, required)
  return {
    mode = "form",
    sessionId = "s1",
    message = "Some questions",
    requestedSchema = { type = "object", properties = properties, required = required },
  }
end

--- Replaces the two prompts by given answers: a label, `false` for Esc. Keeps what was asked.
local function answer_with(child, answers)
  child:run(function(list)
    _G.asked = {}
    local function next_answer(prompt)
      table.insert(asked, prompt)
      return table.remove(list, 1)
    end
    vim.ui.select = function(items, opts, done)
      local wanted = next_answer(opts.prompt)
      done(vim.iter(items):find(function(it)
        return opts.format_item(it) == wanted
      end))
    end
    vim.ui.input = function(opts, done)
      local typed = next_answer(opts.prompt)
      done(typed or nil)
    end
  end, answers)
end

local function ask(child, params)
  child:ask("elicitation/create", params)
  return child:answer("elicitation/create")
end

return {
  ["each property is asked in turn, the required ones first"] = function(T)
    local child = T.child()
    child:open_chat()
    answer_with(
      child,
      { "Blue: as the sea", "[ ] b", "[ ] a", "[x] b", "(done)", "x", "7", "Yes", "" }
    )
    local result = ask(
      child,
      form({
        colour = {
          type = "string",
          oneOf = {
            { const = "r", title = "Red" },
            { const = "b", title = "Blue", description = "as the sea" },
          },
        },
        many = { type = "array", items = { type = "string", enum = { "a", "b" } }, minItems = 1 },
        count = { type = "integer", minimum = 5 },
        sure = { type = "boolean" },
        z_note = { type = "string" },
      }, { "colour", "many", "count", "sure" })
    )
    T.eq(result, '{"action":"accept","content":{"colour":"b","count":7,"many":["a"],"sure":true}}')
    T.eq(
      child:run(function()
        return asked
      end),
      {
        "Some questions (colour):",
        "many:",
        "many:",
        "many:",
        "many:",
        "count: ",
        "count: (a number is needed) ",
        "sure:",
        "z_note: ",
      }
    )
  end,

  ["a form without answers is an empty object"] = function(T)
    local child = T.child()
    child:open_chat()
    answer_with(child, { "(skip this)" })
    local result = ask(child, form({ one = { type = "string", enum = { "a" } } }))
    T.eq(result, '{"action":"accept","content":{}}')
  end,

  ["declining and leaving are two different answers"] = function(T)
    local child = T.child()
    child:open_chat()
    answer_with(child, { "(decline to answer)", false })
    local params = form({ one = { type = "string", enum = { "a" } } }, { "one" })
    T.eq(ask(child, params), '{"action":"decline"}')
    T.eq(ask(child, params), '{"action":"cancel"}')
  end,

  ["a form waits until a person has finished typing"] = function(T)
    local child = T.child()
    child:open_chat()
    child:keys("isome")
    child:ask("elicitation/create", form({ one = { type = "string" } }, { "one" }))
    child:see("waiting for you (1)")
    child:keys(" text<Esc>")
    child:see("Some questions")
    child:keys("answer<CR>")
    T.eq(child:answer("elicitation/create"), '{"action":"accept","content":{"one":"answer"}}')
    T.eq(
      child:run(function()
        return vim.api.nvim_buf_get_lines(require("undine.state").view.prompt, 0, -1, false)
      end),
      { "some text" }
    )
  end,

  ["the kinds of our own questions are asked as they are, with what belongs to them"] = function(T)
    local child = T.child()
    child:open_chat()
    answer_with(child, {
      "(add a note)",
      "not too dark",
      "(keep this answer, ask no more) [ ]",
      "blue",
      "b",
      "(another answer)",
      "teal",
      "2026-02-30",
      "2026-02-28",
      "5.3",
      "5.5",
    })
    local function of(name, kind, extra)
      local meta = { kind = kind, note = name .. "_note" }
      return { undine = vim.tbl_extend("force", meta, extra or {}) }
    end
    local choices = { { const = "a", title = "a" }, { const = "b", title = "b" } }
    local companion = { type = "string", _meta = { undine = { of = "answer1", as = "note" } } }
    local params = form({
      answer1 = {
        type = "string",
        title = "Colour",
        description = "Which colour?",
        oneOf = { { const = "red", title = "red" }, { const = "blue", title = "blue" } },
        _meta = of("answer1", "select", { keep = "answer1_keep" }),
      },
      answer1_note = companion,
      answer2 = {
        type = "array",
        description = "Order?",
        items = { anyOf = choices },
        _meta = of("answer2", "rank"),
      },
      answer3 = {
        type = "string",
        description = "Which?",
        oneOf = choices,
        _meta = of("answer3", "select", { other = "answer3_other" }),
      },
      answer4 = {
        type = "string",
        format = "date",
        description = "When?",
        _meta = of("answer4", "date"),
      },
      answer5 = {
        type = "number",
        description = "How many?",
        minimum = 1,
        maximum = 9,
        _meta = of("answer5", "number", { step = 0.5 }),
      },
      discuss = { type = "boolean", _meta = { undine = { as = "discuss" } } },
    })
    T.eq(
      ask(child, params),
      '{"action":"accept","content":{"answer1":"blue","answer1_keep":true,'
        .. '"answer1_note":"not too dark","answer2":["b","a"],"answer3_other":"teal",'
        .. '"answer4":"2026-02-28","answer5":5.5}}'
    )
    T.eq(
      child:run(function()
        return vim.list_slice(asked, 1, 4)
      end),
      { "Which colour?:", "Note: ", "Which colour?:", "Which colour?:" }
    )
  end,

  ["who would rather talk about it ends the form with that"] = function(T)
    local child = T.child()
    child:open_chat()
    answer_with(child, { "(chat about this)" })
    local params = form({
      answer1 = {
        type = "string",
        description = "Which?",
        oneOf = { { const = "a", title = "a" } },
        _meta = { undine = { kind = "select" } },
      },
      discuss = { type = "boolean", _meta = { undine = { as = "discuss" } } },
    })
    T.eq(ask(child, params), '{"action":"accept","content":{"discuss":true}}')
  end,

  ["a form of another mode is declined"] = function(T)
    local child = T.child()
    child:open_chat()
    T.eq(
      ask(child, { mode = "url", url = "https://example.org", message = "", elicitationId = "1" }),
      '{"action":"decline"}'
    )
  end,
}
