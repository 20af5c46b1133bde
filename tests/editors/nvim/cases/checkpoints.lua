--- Checkpoints: made by hand, chosen, given back after a question.

--- A child with a session, and a server that has two checkpoints.
local function begin(T)
  local child = T.child(T.folder({ ["a.txt"] = "one\n", ["b c.txt"] = "two\n" }))
  child:cmd("edit a.txt")
  child:open_chat()
  child:cmd("wincmd h")
  child:run(function()
    vim.env.TZ = "UTC"
    local old = {
      id = "k1",
      time = 1700000000123,
      title = "Edit a.txt",
      files = { { path = "a.txt", existed = true }, { path = "new.txt", existed = false } },
    }
    local made = { id = "k2", time = 1700000060000, title = "By hand", files = { old.files[1] } }
    fake.results["undine/checkpoint/list"] = function()
      return { checkpoints = { made, old } }
    end
    fake.results["undine/checkpoint/create"] = function()
      return { checkpoint = made }
    end
    fake.results["undine/checkpoint/restore"] = function()
      return {
        undo = "k3",
        restored = { "a.txt" },
        removed = { "new.txt" },
        skipped = { { path = "link", reason = "it is a link now" } },
      }
    end
    vim.notify = function(text)
      _G.told = text
    end
    _G.chosen = {}
    vim.ui.select = function(items, options, done)
      local shown = vim.tbl_map(options.format_item or tostring, items)
      table.insert(chosen, { options.prompt, shown })
      done(items[_G.choices[#chosen]])
    end
  end)
  return child
end

local function choose(child, choices)
  child:run(function(it)
    _G.choices, _G.chosen, _G.told = it, {}, nil
  end, choices)
  child:cmd("UndineCheckpoints")
  child:take("undine/checkpoint/list")
end

local function told(child)
  return child:wait(function()
    return _G.told
  end)
end

return {
  ["a checkpoint is chosen and restored after a question"] = function(T)
    local child = begin(T)
    choose(child, { 2, 1 })
    T.eq(child:take("undine/checkpoint/restore"), '{"id":"k1","sessionId":"s1"}')
    T.eq(
      told(child),
      "Undine: restored 1 file, removed 1 file, passed over link: it is a link now. "
        .. ":UndineCheckpoints has what was before."
    )
    T.eq(
      child:run(function()
        return chosen
      end),
      {
        {
          "Restore which checkpoint?",
          {
            "2023-11-14 22:14  By hand  (1 file)",
            "2023-11-14 22:13  Edit a.txt  (2 files)",
          },
        },
        {
          "Give back what a.txt was, and remove new.txt, which did not exist?",
          { "Yes, restore", "No" },
        },
      }
    )
  end,

  ["a No restores nothing"] = function(T)
    local child = begin(T)
    choose(child, { 1, 2 })
    child:wait(function()
      return #chosen == 2
    end)
  end,

  ["files are named, or the current one is meant"] = function(T)
    local child = begin(T)
    local function paths()
      return vim.json.decode(child:take("undine/checkpoint/create")).paths
    end
    child:cmd("UndineCheckpoint a.txt b\\ c.txt")
    T.eq(paths(), { child.folder .. "/a.txt", child.folder .. "/b c.txt" })
    T.eq(told(child), "Undine: made a checkpoint of 1 file.")
    child:cmd("UndineCheckpoint")
    T.eq(paths(), { child.folder .. "/a.txt" })
    child:cmd("UndineCheckpoint %")
    T.eq(paths(), { child.folder .. "/a.txt" })
  end,

  ["without a session, without a file and without a checkpoint it says so"] = function(T)
    local child = begin(T)
    child:run(function()
      fake.results["undine/checkpoint/list"] = function()
        return { checkpoints = {} }
      end
    end)
    choose(child, {})
    T.eq(told(child), "Undine: there is no checkpoint yet.")
    child:cmd("enew | UndineCheckpoint")
    T.eq(told(child), "Undine: name the files to make a checkpoint of.")
    child:run(function()
      require("undine.state").view.session = nil
    end)
    child:cmd("UndineCheckpoints")
    T.eq(told(child), "Undine: there is no session yet; :Undine starts one.")
  end,
}
