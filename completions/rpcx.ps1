# PowerShell completion for rpcx: rpcx completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName rpcx -ScriptBlock {
	param($wordToComplete, $commandAst, $cursorPosition)
	$words = @($commandAst.CommandElements | Select-Object -Skip 1 |
		Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or $_.Extent.Text -ne $wordToComplete } |
		ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
	$lines = @(rpcx __complete @words "$wordToComplete" 2>$null)
	foreach ($line in ($lines | Select-Object -Skip 1)) {
		$value, $says = $line -split "`t", 2
		if (-not $says) { $says = $value }
		[System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $says)
	}
}
