--- Remembered answers: listed, and one of them taken back.

local rules = {
  { id = "a1", text = "Run `make` in /p", scope = "session" },
  { id = "b2", text = "Edit files of the project", scope = "always" },
  { id = "c3", text = "Read files directly in /q", scope = "always", everywhere = true },
}

local function begin(T, given, choice)
  local child = T.child(T.folder({ ["a.txt"] = "one\n" }))
  child:cmd("edit a.txt")
  child:open_chat()
  child:run(function(list, at)
    local function result()
      return { sessionId = "s", file = "/c/permissions.toml", rules = list }
    end
    fake.results["undine/permission/rules"] = result
    fake.results["undine/permission/forget"] = result
    vim.notify = function(text)
      _G.told = text
    end
    vim.ui.select = function(items, options, done)
      _G.shown = vim.tbl_map(options.format_item, items)
      done(items[at])
    end
  end, given, choice)
  child:cmd("UndinePermissions")
  child:take("undine/permission/rules")
  return child
end

local function told(child)
  return child:wait(function()
    return _G.told
  end)
end

return {
  ["the answer that is chosen is taken back by its id"] = function(T)
    local child = begin(T, rules, 2)
    T.eq(child:take("undine/permission/forget"), '{"id":"b2","sessionId":"s1"}')
    T.eq(told(child), "Undine: this is asked about again: Edit files of the project")
    T.eq(
      child:run(function()
        return _G.shown
      end),
      {
        "Run `make` in /p  (in this session)",
        "Edit files of the project  (always in this project)",
        "Read files directly in /q  (always, in every project)",
      }
    )
  end,

  ["without an answer it says where those for always would stand"] = function(T)
    local child = begin(T, {}, 1)
    T.ok(told(child):find("/c/permissions.toml", 1, true), "the file is named")
  end,
}
