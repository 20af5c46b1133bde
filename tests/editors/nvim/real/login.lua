--- A key on its way to the real program: the editor's own log takes everything in but that.

local key = "marmalade-orchard-lantern"

return {
  ["a key is in no log of the editor, and that it cannot be stored is told"] = function(T)
    local child = T.real(T.folder({ ["a.txt"] = "one\n" }), { UNDINE_NO_KEYRING = "1" })
    child:cmd("edit a.txt")
    child:run(function(typed)
      vim.lsp.log.set_level(vim.log.levels.TRACE)
      vim.fn.inputsecret = function()
        return typed
      end
      vim.notify = function(it)
        _G.told = it
      end
    end, key)
    child:cmd("UndineLogin groq")
    local told = child:wait(function()
      return _G.told
    end)
    T.eq(
      told,
      "Undine: The key was not stored, because UNDINE_NO_KEYRING switches the system's keyring off; "
        .. "set the environment variable GROQ_API_KEY instead."
    )
    local level, path = unpack(child:run(function()
      return { vim.lsp.log.get_level(), vim.lsp.log.get_filename() }
    end))
    T.eq(level, vim.log.levels.TRACE)
    local log = T.read(path)
    T.has(log, "initialize")
    T.ok(not log:find(key, 1, true), "the key is not in the log")
  end,
}
