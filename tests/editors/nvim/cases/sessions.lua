--- Sessions: following one to where it goes on, renaming, removing, and earlier prompts.

--- A child whose choices are those of a list, and a server with two pages of sessions.
local function begin(T, chosen_by)
  local child = T.child()
  child:open_chat()
  child:run(function(it)
    vim.env.TZ = "UTC"
    local function session(id, title)
      local at = "2026-01-31T23:12:40Z"
      return { sessionId = id, cwd = vim.fn.getcwd(), title = title, updatedAt = at }
    end
    fake.results["session/list"] = function(params)
      if params.cursor then
        return { sessions = { session("s3", "Oldest") } }
      end
      return { sessions = { session("s1", "New"), session("s2", "Old") }, nextCursor = "c" }
    end
    fake.results["session/load"] = function()
      return { modes = { currentModeId = "auto", availableModes = {} } }
    end
    fake.results["session/delete"] = function()
      return vim.empty_dict()
    end
    fake.results["undine/session/rename"] = function(params)
      return { title = vim.trim(params.title) }
    end
    fake.results["undine/prompts"] = function()
      return { prompts = { { text = "fix\nit", sessionId = "s2" } } }
    end
    vim.notify = function(text)
      _G.told = text
    end
    _G.choices, _G.chosen = it, {}
    vim.ui.select = function(items, options, done)
      table.insert(chosen, vim.tbl_map(options.format_item, items))
      done(items[choices[#chosen]])
    end
    vim.ui.input = function(options, done)
      _G.asked = options
      done(_G.typed)
    end
  end, chosen_by)
  return child
end

local function told(child)
  return child:wait(function()
    return _G.told
  end)
end

local function prompt_lines()
  local view = require("undine.state").view
  return vim.api.nvim_buf_get_lines(view.prompt, 0, -1, false)
end

return {
  ["the chat follows to the session a rewind names, and the message can be written anew"] = function(T)
    local child = begin(T, {})
    child:keys("i/rewind 3<Esc><CR>")
    child:take("session/prompt")
    child:run(function()
      local session = { sessionId = "s9", cwd = vim.fn.getcwd(), prompt = "do\nit" }
      fake.prompts[1](nil, { stopReason = "end_turn", _meta = { undine = { session = session } } })
    end)
    T.eq(
      child:take("session/load"),
      ('{"cwd":"%s","mcpServers":[],"sessionId":"s9"}'):format(child.folder)
    )
    child:wait(function(lines)
      return vim.deep_equal(loadstring(lines)(), { "do", "it" })
    end, string.dump(prompt_lines))
    child:keys("<CR>")
    T.has(child:take("session/prompt"), '"sessionId":"s9"')
  end,

  ["a session of an older page is renamed"] = function(T)
    local child = begin(T, { 3, 1 })
    child:run(function()
      _G.typed = " Sums "
    end)
    child:cmd("UndineSessions rename")
    T.eq(told(child), "Undine: the session is called Sums.")
    child:take("session/list")
    T.has(child:take("session/list"), '"cursor":"c"')
    T.eq(
      child:take("undine/session/rename"),
      ('{"cwd":"%s","sessionId":"s3","title":" Sums "}'):format(child.folder)
    )
    T.eq(
      child:run(function()
        return { chosen, asked.default }
      end),
      {
        {
          { "2026-01-31 23:12  New", "2026-01-31 23:12  Old", "older ones" },
          { "2026-01-31 23:12  Oldest" },
        },
        "Oldest",
      }
    )
  end,

  ["the session that is shown is removed after a question, and the next prompt begins another"] = function(T)
    local child = begin(T, { 1, 2 })
    child:cmd("UndineSessions delete")
    T.eq(told(child), "Undine: the session is removed.")
    child:take("session/list")
    T.eq(
      child:take("session/delete"),
      ('{"_meta":{"undine":{"cwd":"%s"}},"sessionId":"s1"}'):format(child.folder)
    )
    child:keys("ihello<Esc><CR>")
    child:take("session/new")
    child:take("session/prompt")
  end,

  ["a No removes nothing"] = function(T)
    local child = begin(T, { 1, 1 })
    child:cmd("UndineSessions delete")
    child:wait(function()
      return #chosen == 2
    end)
    child:take("session/list")
  end,

  ["an earlier prompt takes the place of the draft"] = function(T)
    local child = begin(T, { 1 })
    child:run(function()
      _G.typed = "fix"
    end)
    child:keys("idraft<Esc><C-r>")
    T.eq(
      child:take("undine/prompts"),
      ('{"cwd":"%s","sessionId":"s1","words":"fix"}'):format(child.folder)
    )
    child:wait(function(lines)
      return vim.deep_equal(loadstring(lines)(), { "fix", "it" })
    end, string.dump(prompt_lines))
  end,
}
