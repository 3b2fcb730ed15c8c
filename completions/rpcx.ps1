# PowerShell completion for rpcx: rpcx completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName rpcx -ScriptBlock {
	param($wordToComplete, $commandAst, $cursorPosition)
	# The words before that of the cursor, as they would reach rpcx. Nothing of the line is evaluated.
	$words = @($commandAst.CommandElements | Select-Object -Skip 1 |
		Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
		ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
	# A quote that was opened is no part of the word.
	$word = $wordToComplete -replace '^[''"]|[''"]$', ''
	# Before 7.3 an empty word does not reach a program, but for one that is two quotes.
	if ($word -eq '' -and ($PSVersionTable.PSVersion -lt [version]'7.3' -or $PSNativeCommandArgumentPassing -eq 'Legacy')) {
		$word = '""'
	}
	$lines = @(rpcx __complete @words "$word" 2>$null)
	foreach ($line in ($lines | Select-Object -Skip 1)) {
		$value, $says = $line -split "`t", 2
		if (-not $says) { $says = $value }
		# @NAME and much else means something to PowerShell, unless it is quoted.
		$text = $value
		if ($value -match '[^\w./:=+-]') { $text = "'" + $value.Replace("'", "''") + "'" }
		[System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $says)
	}
}
