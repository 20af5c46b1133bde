--- What the server asks: by key, by command, taken back, one after the other.

local options = {
  { optionId = "once", name = "Allow once", kind = "allow_once" },
  { optionId = "session", name = "Do not ask again in this session", kind = "allow_always" },
  { optionId = "no", name = "No", kind = "reject_once" },
}

local function run_command(id, command)
  return {
    sessionId = "s1",
    options = options,
    toolCall = {
      toolCallId = id,
      title = "Run a command",
      kind = "execute",
      status = "pending",
      rawInput = { command = command },
      content = { { type = "content", content = { type = "text", text = command } } },
    },
  }
end

local ask = "session/request_permission"

local function selected(id)
  return ('{"outcome":{"optionId":"%s","outcome":"selected"}}'):format(id)
end

local function start_turn(child)
  child:open_chat()
  child:keys("ido it<C-s>")
  child:take("session/prompt")
end

return {
  ["a command is shown whole and 1 allows it"] = function(T)
    local child = T.child()
    start_turn(child)
    local command = "rm -r build && " .. ("very-long-argument "):rep(20) .. "tail-end"
    child:ask(ask, run_command("c1", command))
    T.has(child:see("Undine asks"), "tail-end")
    child:see("waiting for you (1)")
    child:keys("1")
    T.eq(child:answer(ask), selected("once"))
    child:wait(function()
      return #vim.api.nvim_list_wins() == 3
    end)
  end,

  ["the panel says how to come back to its keys while the cursor is elsewhere"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "make"))
    child:see("Undine asks ─")
    child:cmd("Undine")
    child:see("Undine asks, :UndineReview to answer")
    child:keys("<Esc>")
    child:cmd("UndineReview")
    child:see("Undine asks ─")
    child:keys("1")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["the panel shows all that a call says of itself"] = function(T)
    local lines = require("undine.panel").render({
      options = options,
      toolCall = {
        title = "Do it",
        rawInput = { command = "make\nmake install" },
        content = {
          { type = "content", content = { type = "text", text = "why: it is due" } },
          { type = "diff", path = "/a.txt", oldText = "one\n", newText = "uno\n" },
        },
      },
    })
    T.eq(lines, {
      "Do it",
      "",
      "  make",
      "  make install",
      "  why: it is due",
      "  /a.txt",
      "  @@ -1 +1 @@",
      "  -one",
      "  +uno",
      "",
      "1  Allow once",
      "2  Do not ask again in this session",
      "3, Esc  No",
      "r  No, and say why",
    })
  end,

  ["the panel and the chat say why the server asks"] = function(T)
    local child = T.child()
    start_turn(child)
    for id, reason in pairs({ c1 = "A rule asks for it.", c2 = "It pushes\n  to origin." }) do
      local params = run_command(id, "make")
      params._meta = { undine = { requestId = 7, reason = reason } }
      child:ask(ask, params)
      child:see("Undine asks")
      local shown = reason:gsub("%s+", " ")
      child:see(shown)
      child:keys("1")
      T.eq(child:answer(ask), selected("once"))
      -- The panel hid it.
      child:see("Asks: " .. shown)
    end
  end,

  ["the reason stands under the panel's title and nothing does where there is none"] = function(T)
    local function rendered(meta)
      local params = { options = options, toolCall = { title = "Do it" }, _meta = meta }
      return vim.list_slice(require("undine.panel").render(params), 1, 3)
    end
    T.eq(rendered({ undine = { reason = "A floor asks." } }), { "Do it", "A floor asks.", "" })
    for _, none in ipairs({ {}, { reason = vim.NIL }, { reason = " " } }) do
      T.eq(vim.list_slice(rendered({ undine = none }), 1, 2), { "Do it", "" })
    end
  end,

  ["2 is the second option and 3 is No"] = function(T)
    local child = T.child()
    start_turn(child)
    for key, id in pairs({ ["2"] = "session", ["3"] = "no" }) do
      child:ask(ask, run_command("c" .. key, "make"))
      child:see("Undine asks")
      child:keys(key)
      T.eq(child:answer(ask), selected(id))
    end
  end,

  ["escape in the panel is No"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "make"))
    child:see("3, Esc  No")
    child:keys("<Esc>")
    T.eq(child:answer(ask), selected("no"))
  end,

  ["a refusal carries its reason"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "make"))
    child:see("r  No, and say why")
    child:keys("r")
    child:see("Why not?")
    child:keys("use ninja<CR>")
    T.eq(
      child:answer(ask),
      '{"outcome":{"_meta":{"undine":{"note":"use ninja"}},"optionId":"no","outcome":"selected"}}'
    )
  end,

  ["leaving the reason with escape leaves the question open"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "make"))
    child:see("No, and say why")
    child:keys("r")
    child:see("Why not?")
    child:keys("<Esc>")
    child:see("waiting for you (1)")
    child:keys("1")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["several questions come one after the other"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "first-command"))
    child:ask(ask, run_command("c2", "second-command"))
    T.lacks(child:see("waiting for you (2)"):match("Undine asks.*"), "second-command")
    child:keys("1")
    T.eq(child:answer(ask), selected("once"))
    child:wait(function()
      local panel = require("undine.state").panel
      return panel and panel.ask.call_id == "c2"
    end)
    child:keys("3")
    T.eq(child:answer(ask), selected("no"))
  end,

  ["a person who types elsewhere keeps the keys"] = function(T)
    local child = T.child()
    start_turn(child)
    child:keys("ityping")
    child:ask(ask, run_command("c1", "make"))
    child:see(":UndineReview to answer")
    child:keys(" 1 and 3<Esc>")
    T.eq(
      child:run(function()
        return vim.api.nvim_get_current_line()
      end),
      "typing 1 and 3"
    )
    child:cmd("UndineReview")
    child:keys("1")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["the commands answer from anywhere"] = function(T)
    local child = T.child()
    start_turn(child)
    child:keys("<C-w>h")
    child:ask(ask, run_command("c1", "make"))
    child:see("Undine asks")
    T.eq(
      child:run(function()
        return vim.fn.getcompletion("UndineAccept ", "cmdline")
      end),
      { "once", "session", "no" }
    )
    child:cmd("UndineAccept session")
    T.eq(child:answer(ask), selected("session"))
    child:ask(ask, run_command("c2", "make"))
    child:see("Undine asks")
    child:cmd("UndineReject not now")
    T.has(child:answer(ask), '"note":"not now"')
  end,

  ["stopping the turn takes its questions away"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "make"))
    child:ask(ask, run_command("c2", "make"))
    child:see("waiting for you (2)")
    child:cmd("UndineStop")
    child:take("session/cancel")
    T.eq(child:answer(ask), '{"outcome":{"outcome":"cancelled"}}')
    T.eq(child:answer(ask), '{"outcome":{"outcome":"cancelled"}}')
    child:wait(function()
      return #vim.api.nvim_list_wins() == 3
    end)
  end,

  ["a call that ended elsewhere takes its question away"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "make"))
    child:see("Undine asks")
    child:update({ sessionUpdate = "tool_call_update", toolCallId = "c1", status = "failed" })
    T.eq(child:answer(ask), '{"outcome":{"outcome":"cancelled"}}')
    T.lacks(child:see("· failed"), "Undine asks")
  end,

  ["the end of the turn takes its questions away"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "make"))
    child:see("Undine asks")
    child:run(function()
      fake.finish()
    end)
    T.eq(child:answer(ask), '{"outcome":{"outcome":"cancelled"}}')
  end,

  ["a request taken back takes its question away and no other"] = function(T)
    local child = T.child()
    start_turn(child)
    local first = run_command("c1", "first-command")
    first._meta = { undine = { requestId = 7 } }
    child:ask(ask, first)
    child:ask(ask, run_command("c2", "second-command"))
    child:see("waiting for you (2)")
    child:run(function()
      fake.notify("$/cancelRequest", { id = 7 })
    end)
    T.eq(child:answer(ask), '{"outcome":{"outcome":"cancelled"}}')
    child:wait(function()
      local panel = require("undine.state").panel
      return panel and panel.ask.call_id == "c2"
    end)
    child:keys("1")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["a panel on another tab page is shown before it can be allowed"] = function(T)
    local child = T.child()
    start_turn(child)
    child:ask(ask, run_command("c1", "make-it"))
    child:see("Undine asks")
    child:cmd("tabnew")
    T.lacks(child:screen(), "make-it")
    child:cmd("UndineAccept")
    child:see("make-it")
    child:cmd("UndineAccept")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["a question may come while the command-line window is open"] = function(T)
    local child = T.child()
    start_turn(child)
    child:keys("q:")
    child:ask(ask, run_command("c1", "make-it"))
    child:run(function()
      vim.wait(20)
    end)
    child:keys("<C-c><C-c>")
    child:see("Undine asks")
    child:cmd("UndineAccept")
    T.eq(child:answer(ask), selected("once"))
  end,

  ["accepting with nothing to accept says so"] = function(T)
    local child = T.child()
    start_turn(child)
    child:cmd("UndineAccept")
    child:see("nothing waits for a yes or no")
  end,
}
