module plimsoll.dev/plimsoll/test/workload

go 1.26.0
