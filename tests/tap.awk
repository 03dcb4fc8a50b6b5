# SPDX-License-Identifier: GPL-2.0-only
# Make one TAP document from the output of a case; see tests/tap. The numbers of passed,
# failed and skipped tests go to the file named by the variable results.

function result(ok, text)
{
	n++
	if (!ok)
		failed++
	else if (text ~ /# SKIP/)
		skipped++
	else
		passed++
	printf "%s %d - %s\n", ok ? "ok" : "not ok", n, text
}

{ sub(/\r$/, "") }

/^1\.\.[0-9]+$/ {
	sub(/^1\.\./, "")
	planned += $0
	plans++
	next
}

/^(not )?ok( |$)/ {
	ok = !/^not/
	sub(/^(not )?ok */, "")
	sub(/^[0-9]+ */, "")
	sub(/^- */, "")
	result(ok, $0)
	after = ok ? 0 : 8
	fflush()
	next
}

/^# exit status [0-9]+$/ { status = $4; next }

# The lines that follow a failed test describe it.
after > 0 { print "# " $0; after-- }
{ last[++lines % 20] = $0 }

END {
	if (status && !failed) {
		for (i = lines > 20 ? lines - 19 : 1; i <= lines; i++)
			print "# " last[i % 20]
		sub(/^# */, "", last[lines % 20])
		result(0, "exit status " status ": " substr(last[lines % 20], 1, 200))
		planned++
	}
	if (planned != n)
		result(0, "tests run equal the plan: " n ", plan " planned + 0)
	else if (!n)
		result(0, "the case has a test")
	print "1.." n
	print passed + 0, failed + 0, skipped + 0 > results
	exit failed > 0
}
