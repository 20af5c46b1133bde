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

  ["a form of another mode is declined"] = function(T)
    local child = T.child()
    child:open_chat()
    T.eq(
      ask(child, { mode = "url", url = "https://example.org", message = "", elicitationId = "1" }),
      '{"action":"decline"}'
    )
  end,
}
