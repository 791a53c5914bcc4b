module riata.test/bench-webhook-client

go 1.26.0
