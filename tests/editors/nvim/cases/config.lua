--- The options and what loading costs.

return {
  ["a wrong option is one message with its name, what was found and what is possible"] = function(
    T
  )
    local check = function(given)
      local config = require("undine.config")
      return config.check(given, config.defaults, "")
    end
    T.eq(check({}), nil)
    T.eq(check({ keys = { accept = false }, chat = { size = 0.3 } }), nil)
    T.eq(
      check({ chat = { position = "up" } }),
      '`chat.position` is "up"; it must be "right", "left" or "bottom"'
    )
    T.eq(check({ keys = { accept = 1 } }), "`keys.accept` is 1; it must be a key or false")
    T.eq(
      check({ keys = { acept = "x" } }):match("^`keys.acept` is no option; there are: accept,")
        ~= nil,
      true
    )
    T.eq(check({ cmd = "undine" }), '`cmd` is "undine"; it must be a list of strings or a function')
    T.eq(check({ show_proposals = 1 }), "`show_proposals` is 1; it must be a boolean")
  end,

  ["loading the plugin loads no module and sets no key and no autocommand"] = function(T)
    local child = T.child()
    T.eq(
      child:run(function()
        for name in pairs(package.loaded) do
          if vim.startswith(name, "undine") then
            package.loaded[name] = nil
          end
        end
        vim.g.loaded_undine = nil
        local n_autocommands = #vim.api.nvim_get_autocmds({})
        vim.cmd.runtime("plugin/undine.lua")
        local modules = vim.iter(vim.tbl_keys(package.loaded)):filter(function(name)
          return vim.startswith(name, "undine")
        end)
        return {
          modules:totable(),
          #vim.api.nvim_get_autocmds({}) - n_autocommands,
          vim.fn.exists(":Undine"),
          vim.fn.maparg("<Plug>(undine-accept)", "n"),
        }
      end),
      { {}, 0, 2, "<Cmd>UndineAccept<CR>" }
    )
  end,

  ["checkhealth says what is wrong"] = function(T)
    local child = T.child()
    child:run(function()
      require("undine").setup({ cmd = { "no-such-undine" } })
    end)
    child:cmd("nnoremap ]h <Nop>")
    child:cmd("checkhealth undine")
    child:see("]h has a mapping of yours, which stays; `keys.next_change` names another key")
    child:see("`no-such-undine` was not found")
    child:see("no server runs")
  end,

  ["the help has a tag for every command"] = function(T)
    local child = T.child()
    local commands = child:run(function()
      return vim
        .iter(vim.tbl_keys(vim.api.nvim_get_commands({})))
        :filter(function(name)
          return vim.startswith(name, "Undine")
        end)
        :totable()
    end)
    T.eq(#commands, 19)
    local help = T.read(vim.api.nvim_get_runtime_file("doc/undine.txt", false)[1])
    for _, name in ipairs(commands) do
      T.has(help, ("*:%s*"):format(name))
    end
    local config = require("undine.config")
    for _, section in ipairs({
      config.defaults,
      config.defaults.chat,
      config.defaults.changes,
      config.defaults.keys,
    }) do
      for name in pairs(section) do
        T.has(help, ("`%s`"):format(name))
      end
    end
  end,
}
