--- The commands and the <Plug> mappings. Nothing else is loaded until one of them is used.

if vim.g.loaded_undine then
  return
end
vim.g.loaded_undine = true

if vim.fn.has("nvim-0.11") == 0 then
  vim.notify_once("Undine needs Neovim 0.11 or newer.", vim.log.levels.ERROR)
  return
end

local command = vim.api.nvim_create_user_command

command("Undine", function(args)
  require("undine.chat").open({ text = args.args })
end, { nargs = "*", desc = "Open the chat; with words, send them" })

command("UndineStop", function()
  require("undine.session").stop()
end, { desc = "Cancel the running turn" })

command("UndineDetach", function()
  require("undine.background").detach()
end, { desc = "Move what the turn waits for to the background" })

command("UndineAccept", function(args)
  require("undine.approvals").accept(args.args)
end, {
  nargs = "?",
  complete = function(lead)
    return require("undine.approvals").complete(lead)
  end,
  desc = "Allow what is waiting; with an option id, answer with that option",
})

command("UndineReject", function(args)
  require("undine.approvals").reject(args.args)
end, { nargs = "*", desc = "Refuse what is waiting; words become the reason" })

command("UndineReview", function(args)
  require("undine.review").command(args.args)
end, {
  nargs = "?",
  complete = function(lead)
    return require("undine.review").complete(lead)
  end,
  desc = "Go to what is waiting for an answer, or list the changes to review",
})

--- Keeps or reverts changes; with a range, those in its lines.
for name, action in pairs({ UndineKeep = "keep", UndineRevert = "revert" }) do
  command(name, function(args)
    require("undine.changes.actions").command(action, args)
  end, {
    nargs = "?",
    range = true,
    complete = function(lead)
      return require("undine.changes.actions").complete(lead)
    end,
    desc = ("%s a change of the agent, a file's, a turn's or all"):format(
      action == "keep" and "Keep" or "Revert"
    ),
  })
end

command("UndineCheckpoints", function()
  require("undine.checkpoints").pick()
end, { desc = "Choose a checkpoint and give its files back what they were" })

command("UndineCheckpoint", function(args)
  require("undine.checkpoints").create(args.fargs)
end, { nargs = "*", complete = "file", desc = "Make a checkpoint of files, or of the current one" })

command("UndineMode", function(args)
  require("undine.session").mode(args.args)
end, {
  nargs = "?",
  complete = function(lead)
    return require("undine.session").complete_mode(lead)
  end,
  desc = "Choose how much the agent may do without asking",
})

command("UndineModel", function(args)
  require("undine.models").model(args.args)
end, {
  nargs = "?",
  complete = function(lead)
    return require("undine.models").complete("model", lead)
  end,
  desc = "Choose the model that answers",
})

command("UndineReasoning", function(args)
  require("undine.models").reasoning(args.args)
end, {
  nargs = "?",
  complete = function(lead)
    return require("undine.models").complete("reasoning", lead)
  end,
  desc = "Choose how hard the model thinks before it answers",
})

command("UndineOutputStyle", function(args)
  require("undine.models").style(args.args)
end, {
  nargs = "?",
  complete = function(lead)
    return require("undine.models").complete("output_style", lead)
  end,
  desc = "Choose how the agent writes",
})

command("UndineBtw", function(args)
  require("undine.btw").ask(args.args)
end, { nargs = "*", desc = "Ask something beside the conversation; without words, show what was asked" })

command("UndinePermissions", function()
  require("undine.permissions").pick()
end, { desc = "List what is not asked again, and take an answer back" })

--- A provider's key, stored and forgotten.
for name, action in pairs({ UndineLogin = "login", UndineLogout = "logout" }) do
  command(name, function(args)
    require("undine.login")[action](args.args)
  end, {
    nargs = "?",
    complete = function(lead)
      return require("undine.login").complete(lead)
    end,
    desc = ("%s a provider's key"):format(action == "login" and "Store" or "Forget"),
  })
end

command("UndineSessions", function(args)
  require("undine.sessions").pick(args.args)
end, {
  nargs = "?",
  complete = function(lead)
    return require("undine.sessions").complete(lead)
  end,
  desc = "Choose an earlier session and load it, rename it or remove it",
})

--- `rhs` names a command, so that a mapping and a command can never differ.
local plugs = {
  ["undine-chat"] = "Undine",
  ["undine-stop"] = "UndineStop",
  ["undine-detach"] = "UndineDetach",
  ["undine-accept"] = "UndineAccept",
  ["undine-reject"] = "UndineReject",
  ["undine-review"] = "UndineReview",
  ["undine-mode"] = "UndineMode",
  ["undine-model"] = "UndineModel",
  ["undine-reasoning"] = "UndineReasoning",
  ["undine-output-style"] = "UndineOutputStyle",
  ["undine-btw"] = "UndineBtw",
  ["undine-sessions"] = "UndineSessions",
  ["undine-list"] = "UndineReview all",
  ["undine-diff"] = "UndineReview diff",
  ["undine-keep-hunk"] = "UndineKeep hunk",
  ["undine-keep-file"] = "UndineKeep file",
  ["undine-revert-hunk"] = "UndineRevert hunk",
  ["undine-revert-file"] = "UndineRevert file",
  ["undine-checkpoints"] = "UndineCheckpoints",
}
for name, rhs in pairs(plugs) do
  vim.keymap.set("n", ("<Plug>(%s)"):format(name), ("<Cmd>%s<CR>"):format(rhs))
end

---@type table<string, [string, string, any]> a function of a module and its argument
local steps = {
  ["undine-next-hunk"] = { "undine.review", "jump", 1 },
  ["undine-prev-hunk"] = { "undine.review", "jump", -1 },
  ["undine-accept-hunk"] = { "undine.review", "choose", true },
  ["undine-reject-hunk"] = { "undine.review", "choose", false },
  ["undine-next-change"] = { "undine.changes.actions", "jump", 1 },
  ["undine-prev-change"] = { "undine.changes.actions", "jump", -1 },
  ["undine-next-file"] = { "undine.changes.actions", "jump_file", 1 },
  ["undine-prev-file"] = { "undine.changes.actions", "jump_file", -1 },
}
for name, it in pairs(steps) do
  vim.keymap.set("n", ("<Plug>(%s)"):format(name), function()
    require(it[1])[it[2]](it[3])
  end)
end
