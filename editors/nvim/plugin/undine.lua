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

command("UndineReview", function()
  require("undine.approvals").show()
end, { desc = "Go to what is waiting for an answer" })

command("UndineMode", function(args)
  require("undine.session").mode(args.args)
end, {
  nargs = "?",
  complete = function(lead)
    return require("undine.session").complete_mode(lead)
  end,
  desc = "Choose how much the agent may do without asking",
})

command("UndineSessions", function()
  require("undine.session").pick()
end, { desc = "Choose an earlier session and load it" })

--- `rhs` names a command, so that a mapping and a command can never differ.
local plugs = {
  ["undine-chat"] = "Undine",
  ["undine-stop"] = "UndineStop",
  ["undine-accept"] = "UndineAccept",
  ["undine-reject"] = "UndineReject",
  ["undine-review"] = "UndineReview",
  ["undine-mode"] = "UndineMode",
  ["undine-sessions"] = "UndineSessions",
}
for name, rhs in pairs(plugs) do
  vim.keymap.set("n", ("<Plug>(%s)"):format(name), ("<Cmd>%s<CR>"):format(rhs))
end

vim.keymap.set("n", "<Plug>(undine-next-hunk)", function()
  require("undine.review").jump(1)
end)
vim.keymap.set("n", "<Plug>(undine-prev-hunk)", function()
  require("undine.review").jump(-1)
end)
