--- Providers' keys: typed without being shown, sent, and never written down by the editor.

local key = "marmalade-orchard-lantern"

local providers = {
  { provider = "openai", source = "none", needed = true, storable = true },
  { provider = "groq", source = "env", variable = "GROQ_API_KEY", needed = true, storable = false },
  { provider = "xai", source = "keyring", needed = true, storable = true },
}

--- A child whose person types `typed` and chooses the first that is offered.
local function begin(T, typed)
  local child = T.child(T.folder({ ["a.txt"] = "one\n" }))
  child:cmd("edit a.txt")
  child:run(function(list, text)
    fake.results["undine/auth/status"] = function()
      return { providers = list }
    end
    fake.results["undine/auth/set"] = function(params)
      return { provider = params.provider, source = "keyring", needed = true, storable = true }
    end
    fake.results["undine/auth/clear"] = function(params)
      return { removed = true, now = { provider = params.provider, source = "none" } }
    end
    vim.notify = function(it)
      _G.told = it
    end
    vim.ui.select = function(items, options, done)
      _G.shown = vim.tbl_map(options.format_item, items)
      done(items[1])
    end
    vim.fn.inputsecret = function(prompt)
      _G.asked = prompt
      return text
    end
  end, providers, typed)
  return child
end

local function told(child)
  return child:wait(function()
    return _G.told
  end)
end

return {
  [":UndineLogin takes a key unseen and stores it"] = function(T)
    local child = begin(T, key)
    child:cmd("UndineLogin groq")
    T.eq(
      child:take("undine/auth/set"),
      ('{"apiKey":"%s","provider":"groq"}'):format(key)
    )
    T.eq(told(child), "Undine: the key of groq is stored and counts for the next request.")
    T.eq(
      child:run(function()
        return _G.asked
      end),
      "Key of groq (it is not shown): "
    )
  end,

  [":UndineLogin without a name offers those for which a stored key would count"] = function(T)
    local child = begin(T, key)
    child:cmd("UndineLogin")
    child:take("undine/auth/status")
    child:take("undine/auth/set")
    T.eq(
      child:run(function()
        return _G.shown
      end),
      { "openai  (missing)", "xai  (stored)" }
    )
  end,

  [":UndineLogin with nothing typed stores nothing"] = function(T)
    local child = begin(T, " ")
    child:cmd("UndineLogin groq")
    T.eq(told(child), "Undine: nothing was stored.")
  end,

  [":UndineLogout offers what is stored and forgets it"] = function(T)
    local child = begin(T, "")
    child:cmd("UndineLogout")
    child:take("undine/auth/status")
    T.eq(child:take("undine/auth/clear"), '{"provider":"xai"}')
    T.eq(told(child), "Undine: the key of xai is no longer stored.")
  end,

  ["the names of providers are completed"] = function(T)
    local child = begin(T, "")
    child:open_chat()
    T.eq(
      child:run(function()
        return vim.fn.getcompletion("UndineLogin g", "cmdline")
      end),
      { "groq" }
    )
    child:take("undine/auth/status")
  end,

  ["a prompt that fails for a missing key names the command"] = function(T)
    local child = T.child(T.folder({ ["a.txt"] = "one\n" }))
    local line = child:run(function()
      return require("undine.client").error_line({
        code = -32803,
        message = "The key of groq is missing.",
        data = { kind = "auth", provider = "groq" },
      })
    end)
    T.eq(line, "The key of groq is missing. :UndineLogin groq takes it here.")
  end,
}
