module rpcx

go 1.26.8
