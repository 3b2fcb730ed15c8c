# PowerShell completion for rpcx: rpcx completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName rpcx -ScriptBlock {
	param($wordToComplete, $commandAst, $cursorPosition)
	# The words before the cursor's word, as rpcx would get them. No part of the line is evaluated.
	$words = @($commandAst.CommandElements | Select-Object -Skip 1 |
		Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
		ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
	# An opening quote is not part of the word.
	$word = $wordToComplete -replace '^[''"]|[''"]$', ''
	# Before version 7.3, PowerShell passes an empty word to a program only if the word is two quotes.
	if ($word -eq '' -and ($PSVersionTable.PSVersion -lt [version]'7.3' -or $PSNativeCommandArgumentPassing -eq 'Legacy')) {
		$word = '""'
	}
	$lines = @(rpcx __complete @words "$word" 2>$null)
	foreach ($line in ($lines | Select-Object -Skip 1)) {
		$value, $says = $line -split "`t", 2
		if (-not $says) { $says = $value }
		# Unquoted, @NAME and many other words have a meaning in PowerShell.
		$text = $value
		if ($value -match '[^\w./:=+-]') { $text = "'" + $value.Replace("'", "''") + "'" }
		[System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $says)
	}
}
