--- The chat: text as it comes, why a turn ended, stopping, questions.
local scenes = require("scene")

return {
  ["text is in the chat as it streams, and the turn ends with the answer"] = function(T)
    local scene = scenes.open(T, {})
    scene:prompt("Talk.")
    local request = scene.model:next()
    T.eq(request.body.model, "scripted-1")
    T.eq(request.body.messages[#request.body.messages], { role = "user", content = "Talk." })
    request:say("First é")
    scene.child:see("First é")
    request:say(" and second.\nThird line.")
    scene:reads("First é and second.\nThird line.")
    scene.child:see("working")
    request:finish()
    scene:rests()
    T.eq(scene:chat(), "## You\n\nTalk.\n\nFirst é and second.\nThird line.")
  end,

  ["a prompt that was sent while a turn ran stands in the chat once, where it was taken in"] = function(
    T
  )
    local scene = scenes.open(T, {})
    scene:prompt("First.")
    local request = scene.model:next()
    request:say("One.")
    scene:reads("One.")
    scene:prompt("Second.")
    scene:reads("Waiting for the model: Second.")
    request:finish()
    scene.model:answer("Two.")
    scene:rests()
    T.eq(
      (scene:reads("Two."):gsub("\n\n[%d.]+ s, %d+ tokens", "")),
      "## You\n\nFirst.\n\nOne.\n\nWaiting for the model: Second.\n\n## You\n\nSecond.\n\nTwo."
    )
  end,

  ["an answer that hit the model's limit says so"] = function(T)
    local scene = scenes.open(T, {})
    scene:prompt("Talk.")
    -- It is gone on with by itself before.
    for _ = 1, 5 do
      local request = scene.model:next()
      request:say("Half a sen")
      request:finish("length")
    end
    scene:reads("The answer was cut off at the model's limit; ask it to go on.")
    scene:rests()
  end,

  ["a model that refuses the request is an error in the chat, and the next prompt works"] = function(
    T
  )
    local scene = scenes.open(T, {})
    scene:prompt("Talk.")
    scene.model:next():fail(400, "no such model: scripted-1")
    T.has(scene:reads("Error: "), "no such model")
    scene:rests()
    scene:prompt("Again.")
    scene.model:answer("Now it works.")
    scene:reads("Now it works.")
    scene:rests()
  end,

  [":UndineStop while text streams ends the turn, hangs up, and the prompt is free again"] = function(
    T
  )
    local scene = scenes.open(T, {})
    scene:prompt("Talk for ever.")
    local request = scene.model:next()
    request:say("It begins")
    scene:reads("It begins")
    scene.child:cmd("UndineStop")
    scene:reads("Stopped.")
    scene:rests()
    T.wait(function()
      return request.is_gone
    end, "the end of the connection to the model")
    scene.child:keys("iAgain.<C-s>")
    request = scene.model:answer("Here I am.")
    scene:reads("Here I am.")
    scene:rests()
    local said = vim.tbl_map(function(it)
      return { it.role, it.content }
    end, vim.list_slice(request.body.messages, #request.body.messages - 2))
    T.eq(said[1], { "user", "Talk for ever." })
    T.eq(said[2][1], "assistant")
    T.has(said[2][2], "It begins")
    T.eq(said[3], { "user", "Again." })
  end,

  [":UndineStop while a question waits takes it away, and its call does nothing"] = function(T)
    local scene = scenes.open(T, { ["a.txt"] = "one\n" })
    scene.child:cmd("edit a.txt")
    scene:prompt("Edit.")
    scene.model:call("e1", "edit_file", {
      path = "a.txt",
      target_content = "one",
      replacement_content = "two",
    })
    scene:asks()
    scene.child:cmd("UndineStop")
    scene:reads("Stopped.")
    scene:rests()
    T.eq(
      scene.child:run(function()
        local state = require("undine.state")
        local marks = vim.api.nvim_buf_get_extmarks(vim.fn.bufnr("a.txt"), state.ns, 0, -1, {})
        return { #state.asks, #marks }
      end),
      { 0, 0 }
    )
    T.eq(scene:lines("a.txt"), { "one" })
    scene:prompt("And now?")
    T.has(scene.model:answer("Nothing."):result("e1"), "ancelled")
    scene:rests()
    T.eq(scene:disk("a.txt"), "one\n")
  end,

  ["a question of the model is answered through vim.ui.select"] = function(T)
    local scene = scenes.open(T, {})
    scene.child:run(function()
      _G.offered = {}
      vim.ui.select = function(items, opts, done)
        table.insert(offered, { opts.prompt, vim.tbl_map(opts.format_item, items) })
        done(items[2])
      end
    end)
    scene:prompt("Ask me.")
    scene.model:call("q1", "ask_user_question", {
      questions = {
        {
          question = "Which colour?",
          header = "Colour",
          options = { { label = "Red" }, { label = "Blue", description = "as the sea" } },
        },
        {
          question = "Which size?",
          header = "Size",
          options = { { label = "Small" }, { label = "Large" } },
        },
      },
    })
    local request = scene.model:answer("Blue it is.")
    T.eq(request:result("q1"), "Which colour?\nBlue\nWhich size?\nLarge\n")
    scene:reads("Blue it is.")
    scene:rests()
    local further =
      { "(another answer)", "(add a note)", "(skip this)", "(chat about this)", "(decline to answer)" }
    T.eq(
      scene.child:run(function()
        return offered
      end),
      {
        { "Which colour?:", vim.list_extend({ "Red", "Blue: as the sea" }, further) },
        { "Which size?:", vim.list_extend({ "Small", "Large" }, further) },
      }
    )
  end,

  ["leaving a question of the model with Esc tells it so"] = function(T)
    local scene = scenes.open(T, {})
    scene:prompt("Ask me.")
    scene.model:call("q1", "ask_user_question", {
      questions = { { question = "Which?", options = { { label = "A" }, { label = "B" } } } },
    })
    -- Neovim's own `vim.ui.select` asks in its command line.
    scene.child:wait(function()
      return vim.fn.mode() == "c"
    end)
    scene.child:keys("<Esc>")
    T.has(scene.model:answer("Then not."):result("q1"), "dismissed")
    scene:rests()
  end,
}
