--- The chat: what is sent, what streams in, what the cursor does.

local function transcript(child)
  return child:run(function()
    local view = require("undine.state").view
    return table.concat(vim.api.nvim_buf_get_lines(view.transcript, 0, -1, false), "\n")
  end)
end

local function start_turn(child, text)
  child:open_chat()
  child:keys("i" .. text .. "<C-s>")
  return child:take("session/prompt")
end

local function chunk(text)
  return { sessionUpdate = "agent_message_chunk", content = { type = "text", text = text } }
end

return {
  ["the client says what it can"] = function(T)
    local child = T.child()
    child:open_chat()
    local agent = child:run(function()
      return fake.initialize:match('"agent":(%b{})')
    end)
    T.eq(
      agent,
      '{"clientCapabilities":{"elicitation":{"form":{}},"fs":{"readTextFile":false,"writeTextFile":false},'
        .. '"terminal":false},"methods":["session/update","session/request_permission","elicitation/create",'
        .. '"undine/document/save","undine/selection","undine/diagnostics","undine/symbols","undine/review/changed","undine/retry","undine/btw/chunk"],"protocolVersion":1,"trustedSettings":false}'
    )
    T.has(
      child:run(function()
        return fake.initialize
      end),
      '"initializationOptions":{}'
    )
  end,

  ["a session is made in the root of the project"] = function(T)
    local child = T.child(T.folder({ ["src/a.txt"] = "one\n" }))
    child:cmd("edit src/a.txt")
    child:cmd("Undine")
    T.eq(child:take("session/new"), ('{"cwd":"%s","mcpServers":[]}'):format(child.folder))
  end,

  ["files that are open and files opened later are attached"] = function(T)
    local child = T.child(T.folder({ ["a.txt"] = "one\n", ["b.txt"] = "two\n" }))
    child:cmd("edit a.txt")
    child:open_chat()
    child:cmd("wincmd h | edit b.txt")
    T.eq(
      child:run(function()
        local texts = vim.iter(vim.tbl_values(fake.documents)):map(function(it)
          return it.text
        end)
        return vim.fn.sort(texts:totable())
      end),
      { "one\n", "two\n" }
    )
  end,

  ["a change reaches the server at once"] = function(T)
    local child = T.child(T.folder({ ["a.txt"] = "one\n" }))
    child:cmd("edit a.txt")
    child:open_chat()
    local n = child:run(function()
      local buf = vim.fn.bufnr("a.txt")
      vim.api.nvim_buf_set_lines(buf, 0, 1, false, { "uno" })
      return fake.n_changes
    end)
    T.eq(n, 1)
  end,

  ["what is written is sent and the prompt is emptied"] = function(T)
    local child = T.child()
    T.eq(
      start_turn(child, "hello<CR>there"),
      '{"prompt":[{"text":"hello\\nthere","type":"text"}],"sessionId":"s1"}'
    )
    child:see("## You")
    T.eq(
      child:run(function()
        return vim.api.nvim_buf_get_lines(require("undine.state").view.prompt, 0, -1, false)
      end),
      { "" }
    )
  end,

  ["enter in normal mode sends too"] = function(T)
    local child = T.child()
    child:open_chat()
    child:keys("ihello<Esc><CR>")
    T.has(child:take("session/prompt"), '"text":"hello"')
  end,

  ["words after the command are sent"] = function(T)
    local child = T.child()
    child:cmd("Undine fix it")
    child:take("session/new")
    T.has(child:take("session/prompt"), '"text":"fix it"')
  end,

  ["an answer streams into the transcript"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:update(chunk("Good mor"), chunk("ning.\nSecond"))
    child:see("Second")
    T.eq(transcript(child), "## You\n\nhi\n\nGood morning.\nSecond")
    child:see("working")
    child:run(function()
      fake.finish()
    end)
    child:wait(function()
      return require("undine.state").sessions.s1.n_running == 0
    end)
  end,

  ["many updates make one drawing a frame"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:see("## You")
    local n = child:run(function()
      local n_draws = 0
      local view, drawing = require("undine.state").view, require("undine.transcript")
      local render = drawing.render
      drawing.render = function(...)
        n_draws = n_draws + 1
        return render(...)
      end
      for i = 1, 500 do
        fake.update({
          sessionUpdate = "agent_message_chunk",
          content = { type = "text", text = i .. "\n" },
        })
      end
      vim.wait(2000, function()
        return view.lines[#view.lines - 1] == "500"
      end, 1)
      return n_draws
    end)
    T.ok(n >= 1 and n <= 5, n .. " drawings")
  end,

  ["the transcript follows while its cursor is at the end"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:update(chunk(("line\n"):rep(80) .. "the end"))
    child:see("the end")
  end,

  ["a cursor elsewhere stays where it is"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:update(chunk(("line\n"):rep(80) .. "the end"))
    child:see("the end")
    child:keys("<C-w>kgg3j")
    child:update(chunk(" and more"))
    child:wait(function()
      local view = require("undine.state").view
      return view.lines[#view.lines] == "the end and more"
    end)
    T.eq(
      child:run(function()
        return { vim.fn.line("."), vim.fn.line("w0") }
      end),
      { 4, 1 }
    )
  end,

  ["a thought is one dim line until it is unfolded"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:update({
      sessionUpdate = "agent_thought_chunk",
      content = { type = "text", text = "first\nsecond" },
    })
    T.lacks(child:see("Thought, 2 lines"), "second")
    child:keys("<C-w>kGza")
    T.has(child:see("second"), "first")
    child:keys("za")
    T.wait(function()
      return not child:screen():find("second", 1, true)
    end)
  end,

  ["a tool call shows its title, its status and the end of its output"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:update({
      sessionUpdate = "tool_call",
      toolCallId = "c1",
      title = "Run `make`",
      kind = "execute",
      status = "in_progress",
    })
    child:see("Run `make` · running")
    local output = {}
    for i = 1, 20 do
      output[i] = "out " .. i
    end
    child:update({
      sessionUpdate = "tool_call_update",
      toolCallId = "c1",
      status = "completed",
      content = {
        { type = "content", content = { type = "text", text = table.concat(output, "\n") } },
      },
      _meta = { undine = { exitCode = 2, durationMs = 1200 } },
    })
    local screen = child:see("Run `make` · done, exit 2, 1.2 s")
    T.has(screen, "… 14 lines before")
    T.has(screen, "│ out 15")
    T.lacks(screen, "│ out 14")
  end,

  ["a plan is a checklist that is replaced"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    local function plan(status)
      return {
        sessionUpdate = "plan",
        entries = {
          { content = "look", status = status },
          { content = "write", status = "pending" },
        },
      }
    end
    child:update(plan("in_progress"))
    child:see("- [-] look")
    child:update(plan("completed"))
    child:see("- [x] look")
    T.eq(transcript(child), "## You\n\nhi\n\n- [x] look\n- [ ] write")
    -- What came between stays between: of the earlier plan one line is left.
    child:update({
      sessionUpdate = "agent_message_chunk",
      content = { type = "text", text = "ok" },
    })
    child:update(plan("in_progress"))
    child:see("- [-] look")
    T.eq(
      transcript(child),
      "## You\n\nhi\n\nPlan, 1 of 2 done\n\nok\n\n- [-] look\n- [ ] write"
    )
  end,

  ["an error of the prompt is one line that says what to do"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:run(function()
      fake.finish(nil, {
        code = -32000,
        message = "The provider refused the key",
        data = { kind = "auth", hint = "Set ANTHROPIC_API_KEY and send it again." },
      })
    end)
    child:wait(function()
      return #require("undine.state").view.lines == 5
    end)
    T.eq(
      transcript(child),
      "## You\n\nhi\n\nError: The provider refused the key. Set ANTHROPIC_API_KEY and send it again."
    )
  end,

  ["stop cancels the turn"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:keys("<C-c>")
    T.eq(child:take("session/cancel"), '{"sessionId":"s1"}')
    child:run(function()
      fake.finish({ stopReason = "cancelled" })
    end)
    child:see("Stopped.")
  end,

  ["the mode is set and shown"] = function(T)
    local child = T.child()
    child:open_chat()
    child:see("Undine  ask")
    child:cmd("UndineMode auto")
    T.eq(child:take("session/set_mode"), '{"modeId":"auto","sessionId":"s1"}')
    child:see("Undine  auto")
    child:update({ sessionUpdate = "current_mode_update", currentModeId = "read_only" })
    child:see("Undine  read_only")
    T.eq(
      child:run(function()
        return vim.fn.getcompletion("UndineMode a", "cmdline")
      end),
      { "ask", "auto" }
    )
  end,

  ["an earlier session is listed and replayed"] = function(T)
    local child = T.child()
    child:open_chat()
    child:run(function()
      fake.results["session/list"] = function()
        vim.env.TZ = "CET-1"
        local old = { sessionId = "s1", cwd = vim.fn.getcwd(), title = "Old work" }
        old.updatedAt = "2026-01-31T23:12:40.046243784Z"
        return { sessions = { old } }
      end
      fake.results["session/load"] = function()
        local text = { type = "text", text = "asked before" }
        fake.update({ sessionUpdate = "user_message_chunk", content = text })
        return { modes = { currentModeId = "auto", availableModes = {} } }
      end
      vim.ui.select = function(items, opts, done)
        _G.shown = opts.format_item(items[1])
        done(items[1])
      end
    end)
    child:cmd("UndineSessions")
    T.eq(child:take("session/list"), ('{"cwd":"%s"}'):format(child.folder))
    T.eq(
      child:take("session/load"),
      ('{"cwd":"%s","mcpServers":[],"sessionId":"s1"}'):format(child.folder)
    )
    child:see("asked before")
    child:see("Undine  auto")
    T.eq(
      child:run(function()
        return _G.shown
      end),
      "2026-02-01 00:12  Old work"
    )
  end,

  ["closing one of the two windows closes the other"] = function(T)
    local child = T.child()
    child:open_chat()
    child:cmd("close")
    child:wait(function()
      return #vim.api.nvim_list_wins() == 1
    end)
    child:cmd("Undine")
    T.eq(
      child:run(function()
        return { #vim.api.nvim_list_wins(), vim.fn.bufname() }
      end),
      { 3, "undine://prompt" }
    )
  end,

  ["a server that dies is told in the transcript"] = function(T)
    local child = T.child()
    start_turn(child, "hi")
    child:run(function()
      fake.dispatchers.on_exit(3, 0)
    end)
    child:see("the server ended (exit code 3)")
  end,

  ["a prompt is not lost when there can be no session"] = function(T)
    local child = T.child()
    child:run(function()
      fake.results["session/new"] = nil
    end)
    child:cmd("Undine")
    child:take("session/new")
    child:see("no such method")
    child:keys("ihello<C-s>")
    child:take("session/new")
    child:run(function()
      fake.results["session/new"] = function()
        return { sessionId = "s1" }
      end
    end)
    child:wait(function()
      return not require("undine.state").view.is_sending
    end)
    child:keys("<CR>")
    child:take("session/new")
    T.has(child:take("session/prompt"), '"text":"hello"')
  end,

  ["a command that is not there is one message and no window"] = function(T)
    local child = T.child()
    local message = child:run(function()
      local told = {}
      vim.notify = function(text)
        table.insert(told, text)
      end
      require("undine").setup({ cmd = { "no-such-undine" } })
      vim.cmd.Undine()
      return { told, #vim.api.nvim_list_wins() }
    end)
    T.eq(message, {
      { "Undine: `no-such-undine` was not found; install Undine or set the option `cmd`." },
      1,
    })
  end,
}
