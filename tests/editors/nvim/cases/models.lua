--- The model that answers and how hard it thinks: chosen from a list, or by name.

local options = {
  {
    id = "model",
    name = "Model",
    type = "select",
    currentValue = "groq/a",
    options = { { value = "groq/a", name = "groq/a" }, { value = "fast", name = "fast" } },
  },
  {
    id = "reasoning",
    name = "Reasoning",
    type = "select",
    currentValue = "low",
    options = { { value = "low", name = "low" }, { value = "high", name = "high" } },
  },
}

local list = {
  current = "groq/a",
  aliases = { { name = "fast", model = "ollama/q" }, { name = "lost" } },
  providers = {
    {
      name = "groq",
      key = { provider = "groq", source = "env", variable = "K", needed = true, storable = false },
      models = { { id = "groq/a", window = 131072, price = { input = 1.5, output = 2 }, live = true } },
    },
    {
      name = "ollama",
      key = { provider = "ollama", source = "none", needed = false, storable = true },
      problem = "ollama did not list its models.",
      models = { { id = "ollama/q", window = 1048576, price = { input = 0, output = 0 }, live = false } },
    },
    {
      name = "openai",
      key = { provider = "openai", source = "none", needed = true, storable = true },
      hint = "set it",
      models = { { id = "openai/x", live = false } },
    },
  },
}

--- A chat whose session has these options, and a person who takes the `at`th of what is offered.
local function begin(T, at)
  local child = T.child()
  child:run(function(given, models, choice)
    local function changed(params)
      for _, it in ipairs(given) do
        if it.id == params.configId then
          it.currentValue = params.value
        end
      end
      return { configOptions = given }
    end
    local new = fake.results["session/new"]
    fake.results["session/new"] = function()
      return vim.tbl_extend("force", new(), { configOptions = given })
    end
    fake.results["session/set_config_option"] = changed
    fake.results["undine/models"] = function()
      return models
    end
    _G.told = {}
    vim.notify = function(text)
      table.insert(_G.told, text)
    end
    vim.ui.select = function(items, offered, done)
      _G.shown = vim.tbl_map(offered.format_item, items)
      done(items[choice])
    end
  end, options, list, at)
  child:open_chat()
  return child
end

local function told(child, text)
  return child:wait(function(wanted)
    return vim.iter(_G.told):find(function(it)
      return it:find(wanted, 1, true)
    end)
  end, text)
end

return {
  ["a model is chosen from those that can be used"] = function(T)
    local child = begin(T, 3)
    child:cmd("UndineModel")
    T.eq(child:take("undine/models"), '{"sessionId":"s1"}')
    T.eq(
      child:take("session/set_config_option"),
      '{"configId":"model","sessionId":"s1","value":"ollama/q"}'
    )
    told(child, "model is ollama/q from the next answer on.")
    told(child, "ollama did not list its models.")
    T.eq(
      child:run(function()
        return _G.shown
      end),
      {
        "fast  (ollama/q)",
        "groq/a  131k tokens  $1.5 in, $2 out a million (now)",
        "ollama/q  1M tokens  free",
      }
    )
  end,

  ["a model is named, by an alias too, and completed"] = function(T)
    local child = begin(T, 1)
    child:cmd("UndineModel fast")
    T.eq(child:take("session/set_config_option"), '{"configId":"model","sessionId":"s1","value":"fast"}')
    T.eq(
      child:run(function()
        return vim.fn.getcompletion("UndineModel f", "cmdline")
      end),
      { "fast" }
    )
  end,

  ["reasoning is chosen from what the model takes, as it was told last"] = function(T)
    local child = begin(T, 2)
    child:update({
      sessionUpdate = "config_option_update",
      configOptions = {
        {
          id = "reasoning",
          name = "Reasoning",
          type = "select",
          currentValue = "max",
          options = { { value = "default", name = "As configured" }, { value = "max", name = "max" } },
        },
      },
    })
    child:wait(function()
      local session = require("undine.state").shown()
      return #session.options == 1
    end)
    child:cmd("UndineReasoning")
    T.eq(
      child:take("session/set_config_option"),
      '{"configId":"reasoning","sessionId":"s1","value":"max"}'
    )
    T.eq(
      child:run(function()
        return _G.shown
      end),
      { "As configured", "max (now)" }
    )
  end,

  ["what the session has cost stands in the chat"] = function(T)
    local child = begin(T, 1)
    child:update({
      sessionUpdate = "usage_update",
      used = 500,
      size = 1000,
      _meta = { undine = { cost = "$0.0042" } },
    })
    child:see("50% of the context  $0.0042")
  end,
}
